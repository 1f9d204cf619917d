/**
 * Sentences to token ids, by the tokenizer.json that comes with a checkpoint.
 *
 * Ids of special tokens are asked from the file, never assumed: small models of the same format have others.
 * A prompt's ids are remembered, since a run asks the same few sentences millions of times.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import type { LoadOptions } from "../policy.ts";

export interface PromptTokenizer {
  readonly beginId: number;
  readonly endId: number;
  /** The lone "▁" that ends every prompt of this family: the token that predicts the first action. */
  readonly spaceId: number;
  /** With the begin token in front. */
  encode(text: string): readonly number[];
}

/** Reads tokenizer.json and tokenizer_config.json (which may be absent) of a checkpoint folder. */
export function readTokenizer(folder: string): PromptTokenizer {
  const path = join(folder, "tokenizer.json");
  if (!existsSync(path)) {
    throw new UserError(
      `${folder} has no tokenizer.json; copy it from the model's page on the Hugging Face Hub`,
    );
  }
  const configPath = join(folder, "tokenizer_config.json");
  const config = existsSync(configPath) ? readJsonFile(configPath) : {};
  return promptTokenizer(readJsonFile(path), config, path);
}

export function promptTokenizer(model: object, config: object, origin: string): PromptTokenizer {
  const tokenizer = build(model, config, origin);
  const known = new Map<string, readonly number[]>();
  const idOf = (...names: string[]): number => {
    for (const name of names) {
      const id = tokenizer.token_to_id(name);
      if (id !== undefined) return id;
    }
    throw new UserError(`${origin} has no token ${names.map((name) => `"${name}"`).join(" or ")}`);
  };
  const beginId = idOf("<s>", "<bos>");
  return {
    beginId,
    endId: idOf("</s>", "<eos>"),
    spaceId: idOf("▁"),
    encode(text) {
      const remembered = known.get(text);
      if (remembered) return remembered;
      const ids: number[] = tokenizer.encode(text, { add_special_tokens: true }).ids;
      const withBegin = ids[0] === beginId ? ids : [beginId, ...ids];
      known.set(text, withBegin);
      return withBegin;
    },
  };
}

function build(model: object, config: object, origin: string): Tokenizer {
  try {
    return new Tokenizer(model, config);
  } catch (error) {
    throw new UserError(`${origin} is not a tokenizer we can read: ${(error as Error).message}`);
  }
}

/** Reads the tokenizer when a sentence is first asked for: recorded prompts need none. */
export function lazyTokenizer(folder: string): () => PromptTokenizer {
  let known: PromptTokenizer | undefined;
  return () => {
    known ??= readTokenizer(folder);
    return known;
  };
}

export interface PrismaticLoadOptions extends LoadOptions {
  /** Instead of the checkpoint's own; for recorded prompts. */
  readonly tokenizer?: PromptTokenizer;
}
