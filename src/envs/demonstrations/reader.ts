/**
 * Opens a folder of demonstrations for training: tensors mapped from disk, and a list of episodes.
 *
 * Nothing is loaded until it is touched, so a dataset larger than memory can be sampled frame by frame.
 */
import { existsSync } from "node:fs";
import { readJsonFile, readSafetensors } from "#formats";
import { UserError } from "#registry";
import { keep, type Tensor } from "#tensor";
import { type DatasetInfo, datasetSchema, infoPath, shardPath } from "./layout.ts";

export interface Episode {
  readonly shard: number;
  /** Row of its first frame in the shard, and the number of its actions; it has one frame more. */
  readonly firstFrame: number;
  readonly length: number;
  readonly task: number;
  /** The instruction. */
  readonly sentence: string;
  readonly start: number;
  readonly seed: number;
  readonly succeeded: boolean;
}

export interface Demonstrations {
  readonly info: DatasetInfo;
  /** Tensors of each shard by name: see `layout.ts`. */
  readonly shards: readonly ReadonlyMap<string, Tensor>[];
  readonly episodes: readonly Episode[];
}

export function openDemonstrations(folder: string): Demonstrations {
  const info = readInfo(folder);
  const shards = info.shards.map((_, index) => openShard(folder, index, info));
  const episodes = shards.flatMap((tensors, shard) => episodesOf(tensors, shard, info));
  return { info, shards, episodes };
}

function readInfo(folder: string): DatasetInfo {
  const path = infoPath(folder);
  if (!existsSync(path))
    throw new UserError(
      `${folder} holds no demonstrations (no dataset.json); make some with reverie collect`,
    );
  const parsed = datasetSchema.safeParse(readJsonFile(path));
  if (!parsed.success)
    throw new UserError(`${path} does not describe demonstrations: ${parsed.error.message}`);
  return parsed.data;
}

function openShard(folder: string, index: number, info: DatasetInfo): Map<string, Tensor> {
  const path = shardPath(folder, index);
  const tensors = readSafetensors(path);
  for (const tensor of tensors.values()) keep(tensor);
  const { frames = 0, episodes = 0 } = info.shards[index] ?? {};
  const picture = [frames, info.height, info.width, 3];
  const expected: [string, readonly number[]][] = [
    ["main_images", picture],
    ...(info.wrist ? [["wrist_images", picture] as [string, readonly number[]]] : []),
    ["states", [frames, 8]],
    ["actions", [frames, 7]],
    ["expert_actions", [frames, 7]],
    ["lengths", [episodes]],
  ];
  for (const [name, shape] of expected) {
    const found = tensors.get(name)?.shape.join(", ") ?? "nothing";
    if (found !== shape.join(", "))
      throw new UserError(
        `${path}: ${name} should be [${shape.join(", ")}] and is [${found}]; collect it again`,
      );
  }
  return tensors;
}

function episodesOf(tensors: ReadonlyMap<string, Tensor>, shard: number, info: DatasetInfo): Episode[] {
  const column = (name: string): number[] => tensors.get(name)?.toArray() as number[];
  const [first, lengths, tasks] = [column("first_frames"), column("lengths"), column("tasks")];
  const [starts, seeds, succeeded] = [column("starts"), column("seeds"), column("succeeded")];
  return lengths.map((length, index) => ({
    shard,
    firstFrame: Number(first[index]),
    length: Number(length),
    task: Number(tasks[index]),
    sentence: info.tasks[Number(tasks[index])] ?? "",
    start: Number(starts[index]),
    seed: Number(seeds[index]),
    succeeded: Number(succeeded[index]) === 1,
  }));
}
