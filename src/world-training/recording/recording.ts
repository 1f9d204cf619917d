/**
 * Records a set of episodes to make or refresh a world from: planned, divided into shards, made by processes side by side, described.
 *
 * The same plan, seed and policy give the same recordings, whatever the number of processes.
 */
import { mkdirSync } from "node:fs";
import { processLauncher } from "#cluster";
import { writeJsonFile } from "#formats";
import {
  type DatasetInfo,
  type EpisodeJob,
  infoPath,
  type RecordingSettings,
  runShards,
  type ShardJob,
  shardPath,
  suiteCamera,
} from "#recordings";
import { findSuite, startSeed } from "#simulators";

/** What a recording process is told. */
export interface RecordingOrder {
  readonly settings: RecordingSettings;
  /** Absent: scripted episodes. */
  readonly policy?: {
    readonly section: Readonly<Record<string, unknown>>;
    /** Dealt to episodes in turn; 0 is greedy. */
    readonly temperatures: readonly number[];
    readonly device: string;
    /** The policy acts on what this world imagines; what is recorded is the simulator's. Absent: it acts on the true frames. */
    readonly world?: string;
  };
}

export interface RecordingRequest {
  readonly order: RecordingOrder;
  readonly episodes: number;
  readonly workers: number;
  /** An empty folder, or none yet. `dataset.json` appears in it when all is there. */
  readonly out: string;
  readonly onProgress?: (progress: RecordingProgress) => void;
  /** Ends the recording; the promise rejects. */
  readonly signal?: AbortSignal | undefined;
}

export interface RecordingProgress {
  readonly done: number;
  readonly total: number;
  readonly successes: number;
}

const maker = {
  module: new URL("./open-recorder.ts", import.meta.url).href,
  factory: "openRecorder",
  name: "recording worker",
};
/** Small, so that many processes end at about the same time. */
const episodesPerShard = 24;

export async function recordEpisodes(
  request: RecordingRequest,
): Promise<{ readonly episodes: number; readonly frames: number; readonly successes: number }> {
  const { order, episodes, workers, out, onProgress, signal } = request;
  mkdirSync(out, { recursive: true });
  const shards = divide(planEpisodes(order.settings, episodes), out);
  const progress = { done: 0, total: episodes, successes: 0 };
  const run = {
    maker: { ...maker, options: order },
    launcher: processLauncher,
    shards,
    workers,
    signal,
  };
  const summaries = await runShards(run, ({ success }) => {
    progress.done++;
    if (success) progress.successes++;
    onProgress?.(progress);
  });
  writeJsonFile(infoPath(out), describe(order, summaries));
  const frames = summaries.reduce((sum, shard) => sum + shard.frames, 0);
  return { episodes, frames, successes: progress.successes };
}

/** Tasks take turns, so that any part of a collection is balanced. */
export function planEpisodes(
  { suite, starts, seed, purpose }: RecordingSettings,
  count: number,
): EpisodeJob[] {
  const { pack, tasks } = findSuite(suite);
  return Array.from({ length: count }, (_, index) => {
    const task = index % tasks.length;
    const round = Math.floor(index / tasks.length);
    const start = starts === "stored" ? round % pack.readInitStates(tasks[task]!).count : -1;
    return { task, start, seed: startSeed(purpose, seed, index) };
  });
}

const divide = (jobs: readonly EpisodeJob[], out: string): ShardJob[] =>
  Array.from({ length: Math.ceil(jobs.length / episodesPerShard) }, (_, index) => ({
    path: shardPath(out, index),
    jobs: jobs.slice(index * episodesPerShard, (index + 1) * episodesPerShard),
  }));

function describe({ settings, policy }: RecordingOrder, shards: DatasetInfo["shards"]): DatasetInfo {
  const { pack, tasks } = findSuite(settings.suite);
  return {
    format: "reverie-demonstrations",
    version: 1,
    pack: pack.name,
    suite: settings.suite,
    tasks: tasks.map(({ language }) => language),
    width: settings.size,
    height: settings.size,
    wrist: false,
    fps: 20,
    camera: suiteCamera(settings.suite),
    shards,
    settings: {
      ...settings,
      ...(policy && { policy: policy.section, temperatures: policy.temperatures }),
      ...(policy?.world !== undefined && { world: policy.world }),
    },
  };
}
