/**
 * Sentences to token ids, by the tokenizer.json that comes with a checkpoint.
 *
 * Ids of special tokens are asked from the file, never assumed: small models of the same format have others.
 * A prompt's ids are remembered, since a run asks the same few sentences millions of times.
 * The file holds regular expressions, some of which back-track for ever on some sentences: all work with them has a deadline.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { Overdue, withDeadline } from "../deadline.ts";
import type { LoadOptions } from "../policy.ts";

export interface PromptTokenizer {
  readonly beginId: number;
  readonly endId: number;
  /** The lone "▁" that ends every prompt of this family: the token that predicts the first action. */
  readonly spaceId: number;
  /** With the begin token in front. */
  encode(text: string): readonly number[];
}

export interface TokenizerOptions {
  /** Ids that the model has embeddings for: 0 … vocabulary − 1. */
  readonly vocabulary?: number;
  readonly deadlines?: typeof deadlines;
}

/** Milliseconds; the largest published vocabulary is built in three seconds, and a prompt is encoded in one millisecond. */
const deadlines = { build: 60_000, encode: 10_000 };

/** Reads tokenizer.json and tokenizer_config.json (which may be absent) of a checkpoint folder. */
export function readTokenizer(folder: string, options: TokenizerOptions = {}): PromptTokenizer {
  const path = join(folder, "tokenizer.json");
  if (!existsSync(path)) {
    throw new UserError(
      `${folder} has no tokenizer.json; copy it from the model's page on the Hugging Face Hub`,
    );
  }
  const configPath = join(folder, "tokenizer_config.json");
  const config = existsSync(configPath) ? readJsonFile(configPath) : {};
  return promptTokenizer(readJsonFile(path), config, path, options);
}

export function promptTokenizer(
  model: object,
  config: object,
  origin: string,
  { vocabulary = Number.MAX_SAFE_INTEGER, deadlines: limits = deadlines }: TokenizerOptions = {},
): PromptTokenizer {
  refuseGrowth(model as ExpandingParts, origin);
  const tokenizer = trying(origin, limits.build, () => new Tokenizer(model, config));
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
      const encoding = () => tokenizer.encode(text, { add_special_tokens: true });
      const { ids } = trying(origin, limits.encode, encoding);
      refuseUnknown(ids, vocabulary, origin);
      const withBegin = ids[0] === beginId ? ids : [beginId, ...ids];
      known.set(text, withBegin);
      return withBegin;
    },
  };
}

function trying<T>(origin: string, milliseconds: number, work: () => T): T {
  try {
    return withDeadline(milliseconds, work);
  } catch (error) {
    const why =
      error instanceof Overdue
        ? `one of its regular expressions took longer than ${milliseconds / 1000} s; take the file from the model's own page`
        : (error as Error).message;
    throw new UserError(`${origin} is not a tokenizer we can read: ${why}`);
  }
}

function refuseUnknown(ids: readonly unknown[], vocabulary: number, origin: string): void {
  const stranger = ids.find((id) => !(Number.isInteger(id) && Number(id) >= 0 && Number(id) < vocabulary));
  if (stranger === undefined && !ids.includes(undefined)) return;
  throw new UserError(
    `${origin} gives the token id ${String(stranger).slice(0, 40)}, and the model knows 0 to ${vocabulary - 1}; ` +
      "take it from the same folder as the weights",
  );
}

interface ExpandingParts {
  readonly normalizer?: unknown;
  readonly pre_tokenizer?: unknown;
}

/** How many times longer than its sentence a text may become on the way; Llama's tokenizer doubles it. */
const mostGrowth = 1000;

/** Replacements that double a text, one after another, would fill the memory before any deadline. */
function refuseGrowth({ normalizer, pre_tokenizer }: ExpandingParts, origin: string): void {
  const growth = growthOf(normalizer) * growthOf(pre_tokenizer);
  if (growth <= mostGrowth) return;
  throw new UserError(
    `${origin} is not a tokenizer we can read: its replacements may make a text ${growth.toExponential(0)} times longer`,
  );
}

function growthOf(part: unknown): number {
  if (typeof part !== "object" || part === null) return 1;
  const { type, normalizers, pretokenizers } = part as Record<string, unknown>;
  const own = type === "Replace" ? replacementGrowth(part) : 1;
  const inner = [normalizers, pretokenizers].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  return inner.reduce<number>((product, each) => product * growthOf(each), own);
}

/** An expression may match between letters; and JavaScript reads "$&" and its like as parts of the text itself. */
function replacementGrowth({
  content,
  pattern,
}: {
  content?: unknown;
  pattern?: { String?: unknown };
}): number {
  const text = typeof content === "string" ? content : "";
  if (/\$[&`'<\d]/.test(text)) return Number.POSITIVE_INFINITY;
  return Math.max(1, text.length + (pattern?.String ? 0 : 1));
}

/** Reads the tokenizer when a sentence is first asked for: recorded prompts need none. */
export function lazyTokenizer(folder: string, vocabulary: number): () => PromptTokenizer {
  let known: PromptTokenizer | undefined;
  return () => {
    known ??= readTokenizer(folder, { vocabulary });
    return known;
  };
}

export interface PrismaticLoadOptions extends LoadOptions {
  /** Instead of the checkpoint's own; for recorded prompts. */
  readonly tokenizer?: PromptTokenizer;
}
