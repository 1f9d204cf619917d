/**
 * Opens a folder of demonstrations for training: tensors mapped from disk, and a list of episodes.
 *
 * Nothing is loaded until it is touched, so a dataset larger than memory can be sampled frame by frame. What a shard says of
 * its episodes is checked here, against its own frames: whoever reads rows by it can trust it.
 */
import { existsSync } from "node:fs";
import { readJsonFile, readSafetensors } from "#formats";
import { UserError } from "#registry";
import { type DType, keep, type Tensor } from "#tensor";
import { type DatasetInfo, datasetSchema, infoPath, shardPath } from "./layout.ts";

export interface DemonstratedEpisode {
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
  readonly episodes: readonly DemonstratedEpisode[];
}

export function openDemonstrations(folder: string): Demonstrations {
  const info = readInfo(folder);
  const shards = info.shards.map((_, index) => openShard(folder, index, info));
  const episodes = shards.flatMap((tensors, shard) => {
    const found = episodesOf(tensors, shard, info);
    checkEpisodes(found, shardPath(folder, shard), info);
    return found;
  });
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
  for (const [name, dtype, shape] of expectedTensors(info, index)) {
    const tensor = tensors.get(name);
    const found = tensor ? typeText(tensor.dtype, tensor.shape) : "nothing";
    const wanted = typeText(dtype, shape);
    if (found !== wanted)
      throw new UserError(`${path}: ${name} should be ${wanted} and is ${found}; collect it again`);
  }
  return tensors;
}

const typeText = (dtype: DType, shape: readonly number[]): string => `${dtype} [${shape.join(", ")}]`;

/** What every shard holds; `goals` came later, and older recordings do without. */
function expectedTensors(info: DatasetInfo, index: number): [string, DType, readonly number[]][] {
  const { frames = 0, episodes = 0 } = info.shards[index] ?? {};
  const picture = [frames, info.height, info.width, 3];
  const hands = info.hands ?? 1;
  const wrists = hands === 1 ? picture : [frames, hands, info.height, info.width, 3];
  const columns = ["first_frames", "lengths", "tasks", "starts", "seeds"];
  return [
    ["main_images", "uint8", picture],
    ...(info.wrist ? [["wrist_images", "uint8", wrists] as [string, DType, number[]]] : []),
    ["states", "float32", [frames, 8 * hands]],
    ["actions", "float32", [frames, 7 * hands]],
    ["expert_actions", "float32", [frames, 7 * hands]],
    ["success", "uint8", [frames]],
    ...columns.map((name): [string, DType, number[]] => [name, "int64", [episodes]]),
    ["succeeded", "uint8", [episodes]],
  ];
}

function episodesOf(
  tensors: ReadonlyMap<string, Tensor>,
  shard: number,
  info: DatasetInfo,
): DemonstratedEpisode[] {
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

/** Episodes follow each other and cover every frame, as the recorder writes them; their tasks are those of the dataset. */
function checkEpisodes(
  episodes: readonly DemonstratedEpisode[],
  path: string,
  { tasks, shards }: DatasetInfo,
): void {
  const frames = shards[episodes[0]?.shard ?? 0]?.frames ?? 0;
  let next = 0;
  for (const [index, { firstFrame, length, task }] of episodes.entries()) {
    const fail = (why: string): never => {
      throw new UserError(`${path}: episode ${index} ${why}; collect it again`);
    };
    if (firstFrame !== next) fail(`begins at frame ${firstFrame}, and the one before it ends at ${next - 1}`);
    if (!(length >= 1) || firstFrame + length >= frames)
      fail(`claims ${length} actions from frame ${firstFrame} of ${frames}`);
    if (!(task >= 0 && task < tasks.length)) fail(`is of task ${task}, and dataset.json has ${tasks.length}`);
    next = firstFrame + length + 1;
  }
  if (episodes.length > 0 && next !== frames)
    throw new UserError(`${path}: its episodes end at frame ${next} of ${frames}; collect it again`);
}
