/**
 * A checkpoint folder in the published layout (shards and their index) from a network's random weights, wherever they lie.
 *
 * Its tokenizer is our own, trained on the given sentences until they are about as long as Llama's tokens make them.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile, writeSafetensors } from "#formats";
import type { Module } from "#nn";
import type { Tensor } from "#tensor";
import type { PrismaticConfig } from "../src/policies/prismatic/config.ts";
import { promptFor } from "../src/policies/prismatic/prompts.ts";
import { trainTokenizer } from "../src/policies/prismatic/train-tokenizer.ts";

const shardBytes = 5e9;
const pieces = 440; // 33 tokens for a sentence that Llama's tokenizer cuts into 35

export interface FolderWishes {
  readonly tasks: readonly string[];
  readonly unnormKey: string;
}

export function writeRandomCheckpoint(
  folder: string,
  module: Module,
  { raw }: PrismaticConfig,
  { tasks, unnormKey }: FolderWishes,
): void {
  mkdirSync(folder, { recursive: true });
  writeJsonFile(join(folder, "config.json"), { model_type: "openvla", ...raw });
  writeJsonFile(join(folder, "tokenizer.json"), trainTokenizer(tasks.map(promptFor), pieces));
  writeJsonFile(join(folder, "dataset_statistics.json"), {
    [unnormKey]: {
      action: {
        q01: [-1, -1, -1, -0.2, -0.2, -0.2, 0],
        q99: [1, 1, 1, 0.2, 0.2, 0.2, 1],
        mask: [true, true, true, true, true, true, false],
      },
    },
  });
  const shards = shardsOf(module.state());
  const nameOf = (i: number) => `model-${five(i + 1)}-of-${five(shards.length)}.safetensors`;
  for (const [i, shard] of shards.entries())
    writeSafetensors(join(folder, nameOf(i)), shard, { format: "pt" });
  const places = shards.flatMap((shard, i) => [...shard.keys()].map((name) => [name, nameOf(i)]));
  writeJsonFile(join(folder, "model.safetensors.index.json"), {
    metadata: {},
    weight_map: Object.fromEntries(places),
  });
}

const five = (n: number): string => String(n).padStart(5, "0");

function shardsOf(weights: ReadonlyMap<string, Tensor>): Map<string, Tensor>[] {
  const shards = [new Map<string, Tensor>()];
  let room = shardBytes;
  for (const [name, weight] of weights) {
    const bytes = weight.numel * (weight.dtype === "float32" ? 4 : 2);
    if (bytes > room) {
      shards.push(new Map());
      room = shardBytes;
    }
    shards.at(-1)!.set(name, weight);
    room -= bytes;
  }
  return shards;
}
