/**
 * Writes demonstrations as a LeRobot dataset, format v3.0, which the `lerobot` package opens as it is.
 *
 * https://huggingface.co/docs/lerobot. Pictures are PNG files inside the tables, so nothing is lost to a video codec.
 * `action` is the expert's answer, the thing to learn; `executed_action` is what was done, noise and all. An episode's
 * last frame, which has no action, is left out.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { encodePng, writeJsonFile } from "#formats";
import type { DemonstratedEpisode, Demonstrations } from "../demonstrations/reader.ts";
import { cameraNames, describeDataset } from "./dataset-info.ts";
import { type Column, type StoredPicture, writeParquet } from "./parquet-table.ts";
import { pictureStatistics, vectorStatistics } from "./statistics.ts";

export interface ExportProgress {
  readonly done: number;
  readonly total: number;
}

/** Pictures that statistics are taken of: enough for means, few enough to be quick. */
const sampledPictures = 500;

/** @param folder an empty folder. */
export function exportLerobot(
  demonstrations: Demonstrations,
  folder: string,
  onProgress: (progress: ExportProgress) => void = () => {},
): void {
  for (const part of ["meta/episodes/chunk-000", "data/chunk-000"])
    mkdirSync(join(folder, part), { recursive: true });
  const { info, episodes } = demonstrations;
  const collected = new CollectedRows(episodes);
  for (const shard of info.shards.keys()) {
    const rows = shardRows(demonstrations, shard, collected);
    if (rows.index.length > 0) writeParquet(join(folder, fileOf("data", shard)), frameColumns(rows));
    onProgress({ done: shard + 1, total: info.shards.length });
  }
  writeParquet(join(folder, fileOf("meta/episodes", 0)), episodeColumns(episodes));
  writeTasks(folder, info.tasks);
  writeJsonFile(join(folder, "meta/stats.json"), collected.statistics());
  writeJsonFile(join(folder, "meta/info.json"), describeDataset(demonstrations));
}

const fileOf = (part: string, index: number): string =>
  `${part}/chunk-000/file-${String(index).padStart(3, "0")}.parquet`;

/** The frames of one data file, column by column. */
interface FrameRows {
  readonly pictures: Map<string, StoredPicture[]>;
  readonly state: number[][];
  readonly action: number[][];
  readonly executed: number[][];
  readonly success: boolean[];
  readonly timestamp: number[];
  readonly frame: number[];
  readonly episode: number[];
  readonly index: number[];
  readonly task: number[];
}

/** What statistics need of all shards. */
class CollectedRows {
  readonly vectors = new Map<string, ArrayLike<number>[]>();
  readonly pictures = new Map<string, Uint8Array[]>();
  readonly #pictureStride: number;
  #nextIndex = 0;

  constructor(episodes: readonly DemonstratedEpisode[]) {
    const frames = episodes.reduce((sum, { length }) => sum + length, 0);
    this.#pictureStride = Math.max(1, Math.floor(frames / sampledPictures));
  }

  /** The index of the next frame in the whole dataset. */
  take(): number {
    return this.#nextIndex++;
  }

  addVector(name: string, row: ArrayLike<number>): void {
    append(this.vectors, name, row);
  }

  addPicture(name: string, index: number, pixels: Uint8Array): void {
    if (index % this.#pictureStride === 0) append(this.pictures, name, pixels.slice());
  }

  statistics(): object {
    const of = <T>(rows: Map<string, T[]>, summarize: (rows: T[]) => object) =>
      [...rows].map(([name, values]) => [name, summarize(values)]);
    return Object.fromEntries([
      ...of(this.pictures, pictureStatistics),
      ...of(this.vectors, vectorStatistics),
    ]);
  }
}

function append<T>(rows: Map<string, T[]>, name: string, row: T): void {
  const known = rows.get(name);
  if (known) known.push(row);
  else rows.set(name, [row]);
}

function shardRows({ info, shards, episodes }: Demonstrations, shard: number, all: CollectedRows): FrameRows {
  const tensors = shards[shard]!;
  const view = (name: string) => tensors.get(name)!.contiguous().hostView() as Float32Array;
  const { hands = 1 } = info;
  const [stateSize, actionSize] = [8 * hands, 7 * hands];
  const [mainName = "", ...wristNames] = cameraNames(info);
  const pictures = (name: string) => tensors.get(name)!.contiguous().hostView() as Uint8Array;
  /** Pictures of each frame in a tensor, and which of them the camera's is. */
  const cameras = [
    { name: mainName, pixels: pictures("main_images"), of: 1, place: 0 },
    ...wristNames.map((name, place) => ({ name, pixels: pictures("wrist_images"), of: hands, place })),
  ];
  const [states, actions, labels] = [view("states"), view("actions"), view("expert_actions")];
  const success = view("success");
  const rows = emptyRows();
  const { width, height } = info;
  const bytes = width * height * 3;
  for (const [episodeIndex, episode] of episodes.entries()) {
    if (episode.shard !== shard) continue;
    for (let frame = 0; frame < episode.length; frame++) {
      const row = episode.firstFrame + frame;
      const index = all.take();
      for (const { name, pixels, of, place } of cameras) {
        const at = (row * of + place) * bytes;
        const data = pixels.subarray(at, at + bytes);
        const path = `frame-${String(index).padStart(6, "0")}.png`;
        append(rows.pictures, name, { bytes: encodePng({ width, height, channels: 3, data }), path });
        all.addPicture(name, index, data);
      }
      rows.state.push([...states.subarray(stateSize * row, stateSize * (row + 1))]);
      rows.action.push([...labels.subarray(actionSize * row, actionSize * (row + 1))]);
      rows.executed.push([...actions.subarray(actionSize * row, actionSize * (row + 1))]);
      rows.success.push(success[row + 1] === 1);
      rows.timestamp.push(frame / info.fps);
      rows.frame.push(frame);
      rows.episode.push(episodeIndex);
      rows.index.push(index);
      rows.task.push(episode.task);
    }
  }
  remember(rows, all);
  return rows;
}

const emptyRows = (): FrameRows => ({
  pictures: new Map(),
  state: [],
  action: [],
  executed: [],
  success: [],
  timestamp: [],
  frame: [],
  episode: [],
  index: [],
  task: [],
});

function remember(rows: FrameRows, all: CollectedRows): void {
  for (const row of rows.state) all.addVector("observation.state", row);
  for (const row of rows.action) all.addVector("action", row);
  for (const row of rows.executed) all.addVector("executed_action", row);
  for (const value of rows.success) all.addVector("next.success", [value ? 1 : 0]);
  for (const value of rows.timestamp) all.addVector("timestamp", [value]);
  for (const value of rows.frame) all.addVector("frame_index", [value]);
  for (const value of rows.episode) all.addVector("episode_index", [value]);
  for (const value of rows.index) all.addVector("index", [value]);
  for (const value of rows.task) all.addVector("task_index", [value]);
}

function frameColumns(rows: FrameRows): Column[] {
  const pictures = [...rows.pictures].map(([name, data]): Column => ({ name, kind: "picture", data }));
  return [
    ...pictures,
    { name: "observation.state", kind: "float32s", data: rows.state },
    { name: "action", kind: "float32s", data: rows.action },
    { name: "executed_action", kind: "float32s", data: rows.executed },
    { name: "next.success", kind: "bool", data: rows.success },
    { name: "timestamp", kind: "float32", data: rows.timestamp },
    { name: "frame_index", kind: "int64", data: rows.frame },
    { name: "episode_index", kind: "int64", data: rows.episode },
    { name: "index", kind: "int64", data: rows.index },
    { name: "task_index", kind: "int64", data: rows.task },
  ];
}

function episodeColumns(episodes: readonly DemonstratedEpisode[]): Column[] {
  let end = 0;
  const ends = episodes.map(({ length }) => (end += length));
  const zeros = episodes.map(() => 0);
  return [
    { name: "episode_index", kind: "int64", data: episodes.map((_, index) => index) },
    { name: "tasks", kind: "texts", data: episodes.map(({ sentence }) => [sentence]) },
    { name: "length", kind: "int64", data: episodes.map(({ length }) => length) },
    { name: "data/chunk_index", kind: "int64", data: zeros },
    { name: "data/file_index", kind: "int64", data: episodes.map(({ shard }) => shard) },
    { name: "dataset_from_index", kind: "int64", data: episodes.map(({ length }, i) => ends[i]! - length) },
    { name: "dataset_to_index", kind: "int64", data: ends },
    { name: "meta/episodes/chunk_index", kind: "int64", data: zeros },
    { name: "meta/episodes/file_index", kind: "int64", data: zeros },
  ];
}

/** A pandas table whose index is the sentence: LeRobot looks tasks up both ways. */
function writeTasks(folder: string, sentences: readonly string[]): void {
  const index = "__index_level_0__";
  const column = (name: string | null, field: string, pandasType: string, numpyType: string) => ({
    name,
    field_name: field,
    pandas_type: pandasType,
    numpy_type: numpyType,
    metadata: null,
  });
  writeParquet(
    join(folder, "meta/tasks.parquet"),
    [
      { name: "task_index", kind: "int64", data: sentences.map((_, task) => task) },
      { name: index, kind: "text", data: sentences },
    ],
    {
      index_columns: [index],
      column_indexes: [],
      columns: [
        column("task_index", "task_index", "int64", "int64"),
        column(null, index, "unicode", "object"),
      ],
      pandas_version: "2.2.0",
    },
  );
}
