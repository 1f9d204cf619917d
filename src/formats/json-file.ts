/**
 * JSON files of the Hugging Face kind: `config.json`, `dataset_statistics.json`, index files.
 *
 * Python's json module writes NaN and Infinity, which JSON does not have; published statistics contain
 * them, so they are read. Lone values are refused: every such file is an object.
 */
import { replaceFile } from "./atomic-write.ts";
import { readWholeFile } from "./file-bytes.ts";
import { fileFault } from "./file-fault.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function readJsonFile(path: string): JsonObject {
  const fault = fileFault(path, "JSON file");
  const text = Buffer.from(readWholeFile(path, fault))
    .toString("utf8")
    .replace(/^\uFEFF/, "");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    value = parseWithNonFinite(text) ?? new Error((error as Error).message);
  }
  if (value instanceof Error) throw fault(value.message);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw fault("it is not a JSON object");
  return value as JsonObject;
}

export function writeJsonFile(path: string, value: unknown): void {
  replaceFile(path, [Buffer.from(`${JSON.stringify(value, null, 2)}\n`)]);
}

const nonFinite = { NaN: Number.NaN, Infinity: Infinity, "-Infinity": -Infinity } as const;

/** Bare NaN and Infinity outside strings become marked strings, and numbers again after parsing. */
function parseWithNonFinite(text: string): unknown {
  const mark = "\u0000non-finite:";
  const quoted = text.replace(/"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(mark + token),
  );
  const revive = (_key: string, value: unknown): unknown =>
    typeof value === "string" && value.startsWith(mark)
      ? nonFinite[value.slice(mark.length) as keyof typeof nonFinite]
      : value;
  try {
    return JSON.parse(quoted, revive);
  } catch {
    return undefined;
  }
}
