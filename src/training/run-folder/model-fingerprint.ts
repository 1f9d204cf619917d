/**
 * Tells one base model from another, wherever it lies: a run may move with its model, but must not go on with another.
 *
 * Hashing gigabytes at every start would take longer than a step, so weights are sampled: names, sizes, the beginning of every file (where
 * safetensors keep their tensors' names) and pages spread over it.
 */
import { createHash, type Hash } from "node:crypto";
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

const headBytes = 1 << 16;
const pageBytes = 1 << 12;
const pages = 64;

/** Undefined where there is no such model on this machine. */
export function modelFingerprint(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  const hash = createHash("sha256");
  if (!found.isDirectory()) hashSample(hash, path);
  else
    for (const name of filesOf(path)) {
      hash.update(`\0${name}\0`);
      hashSample(hash, join(path, name));
    }
  return hash.digest("hex");
}

/** What belongs to a model; read-me files may change. */
const filesOf = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /\.(safetensors|bin|pt|pth|json|model)$/.test(name))
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
    .sort();

function hashSample(hash: Hash, path: string): void {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    hash.update(String(size));
    const buffer = Buffer.alloc(headBytes);
    hash.update(buffer.subarray(0, readSync(descriptor, buffer, 0, headBytes, 0)));
    for (let page = 1; page <= pages; page++) {
      const at = Math.max(0, Math.floor((page / pages) * size) - pageBytes);
      hash.update(buffer.subarray(0, readSync(descriptor, buffer, 0, pageBytes, at)));
    }
  } finally {
    closeSync(descriptor);
  }
}
