/**
 * Recorded token ids of the reference's tokenizers against ours, where somebody has the tokenizer files.
 *
 * `tokenizer_golden.json` lists prompts with their ids. Llama's license keeps its tokenizer out of this repository, so the
 * check runs only when a tokenizer.json lies in one of the folders named below, beside the recording.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readTokenizer } from "../../../src/policies/prismatic/tokenizer.ts";
import { Comparison, type ParityCase } from "./comparison.ts";

interface Golden {
  readonly llama?: readonly { readonly text: string; readonly ids: readonly number[] }[];
}

const llamaFolders = ["llama2_tok", "tok/llama2_tok", "llama", "."];

export function compareTokenizers(dir: string): ParityCase[] {
  const path = join(dir, "tokenizer_golden.json");
  const folder = llamaFolders
    .map((name) => join(dir, name))
    .find((name) => existsSync(join(name, "tokenizer.json")));
  if (!existsSync(path) || folder === undefined) return [];
  const golden = JSON.parse(readFileSync(path, "utf8")) as Golden;
  const tokenizer = readTokenizer(folder);
  const comparison = new Comparison("tokenizer", {});
  const wrong = (golden.llama ?? []).filter(
    ({ text, ids }) => String(tokenizer.encode(text)) !== String(ids),
  );
  comparison.none(`Llama prompts with other ids (of ${golden.llama?.length ?? 0})`, wrong.length);
  return comparison.cases;
}
