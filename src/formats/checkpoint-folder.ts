/**
 * A folder of weights in the published layout: one `model.safetensors`, or shards named by an index.
 *
 * `model.safetensors.index.json` maps each tensor to its shard. Its file names come from strangers, so they
 * may not lead out of the folder.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";
import { readJsonFile } from "./json-file.ts";
import { printable } from "./printable.ts";
import { readSafetensors } from "./safetensors.ts";
import { readSafetensorsHeader, type SafetensorsEntry } from "./safetensors-header.ts";

export interface Checkpoint {
  readonly folder: string;
  /** Every tensor's type and shape, without loading any. */
  readonly entries: ReadonlyMap<string, SafetensorsEntry>;
  /** The tensors by name, mapped and not copied; all of them, or those asked for. */
  read(names?: Iterable<string>): Map<string, Tensor>;
}

const single = "model.safetensors";
const index = "model.safetensors.index.json";

export function openCheckpoint(folder: string): Checkpoint {
  const shards = listShards(folder);
  const entries = new Map<string, SafetensorsEntry>();
  const shardOf = new Map<string, string>();
  for (const shard of shards) {
    for (const [name, entry] of readSafetensorsHeader(join(folder, shard)).tensors) {
      if (entries.has(name)) throw new UserError(`${folder}: tensor "${name}" is in two shards`);
      entries.set(name, entry);
      shardOf.set(name, shard);
    }
  }
  checkIndex(folder, entries);
  return { folder, entries, read: (names) => readFrom(folder, shardOf, names ?? entries.keys()) };
}

function listShards(folder: string): string[] {
  if (existsSync(join(folder, index))) return [...new Set(readWeightMap(folder).values())].sort();
  if (existsSync(join(folder, single))) return [single];
  throw new UserError(`${folder} has neither ${index} nor ${single}; give the folder of a saved model`);
}

function readWeightMap(folder: string): Map<string, string> {
  const path = join(folder, index);
  const { weight_map: weights } = readJsonFile(path);
  if (typeof weights !== "object" || weights === null)
    throw new UserError(`${path} has no "weight_map" table`);
  for (const [name, shard] of Object.entries(weights)) {
    if (typeof shard !== "string" || !/^[\w.-]+\.safetensors$/.test(shard)) {
      throw new UserError(`${path} puts tensor "${name}" into ${printable(shard)}, which is no shard's name`);
    }
  }
  return new Map(Object.entries(weights as Record<string, string>));
}

function checkIndex(folder: string, entries: ReadonlyMap<string, SafetensorsEntry>): void {
  if (!existsSync(join(folder, index))) return;
  for (const [name, shard] of readWeightMap(folder)) {
    if (!entries.has(name))
      throw new UserError(`${join(folder, shard)} lacks tensor "${name}", which the index promises`);
  }
}

function readFrom(
  folder: string,
  shardOf: ReadonlyMap<string, string>,
  names: Iterable<string>,
): Map<string, Tensor> {
  const wanted = new Map<string, string[]>(); // shard -> its wanted tensors
  for (const name of names) {
    const shard = shardOf.get(name);
    if (shard === undefined)
      throw new UserError(`${folder} has no tensor "${name}"; it has ${shardOf.size} others`);
    const part = wanted.get(shard) ?? [];
    part.push(name);
    wanted.set(shard, part);
  }
  return new Map([...wanted].flatMap(([shard, part]) => [...readSafetensors(join(folder, shard), part)]));
}
