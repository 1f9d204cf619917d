/**
 * Small files of a model folder that travel unchanged from the checkpoint we started from to the ones we write: tokenizers, statistics.
 *
 * They are read when the folder is opened, because it may be gone when the model is saved: a resumed run begins from a checkpoint that it
 * later deletes to make room.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Companions = ReadonlyMap<string, Uint8Array>;

/** Those of the named files that are there. */
export function readCompanions(folder: string, names: readonly string[]): Companions {
  const there = names.filter((name) => existsSync(join(folder, name)));
  return new Map(there.map((name) => [name, readFileSync(join(folder, name))]));
}

export function writeCompanions(folder: string, companions: Companions): void {
  for (const [name, content] of companions) writeFileSync(join(folder, name), content);
}
