/** Divides the episodes of a collection into shards, has workers make them, and writes the dataset's description. */
import { processLauncher } from "#cluster";
import { handsOf } from "#engine";
import { writeJsonFile } from "#formats";
import {
  type CollectSettings,
  type DatasetInfo,
  type EpisodeJob,
  infoPath,
  runShards,
  type ShardJob,
  type ShardSummary,
  shardCollectorProgram,
  shardPath,
} from "#recordings";
import { findSuite, startSeed } from "#simulators";

export interface CollectRequest {
  readonly settings: CollectSettings;
  readonly tasks: readonly number[];
  readonly episodesPerTask: number;
  readonly workers: number;
  /** An empty folder. */
  readonly out: string;
  readonly onProgress: (progress: { done: number; total: number; successes: number }) => void;
}

export interface CollectResult {
  readonly episodes: number;
  readonly frames: number;
  readonly tasks: readonly {
    readonly sentence: string;
    readonly successes: number;
    readonly attempts: number;
  }[];
}

/** Frames of about this many bytes go into a shard: large enough to map, small enough for a worker's memory. */
const shardBytes = 96 * 2 ** 20;

export async function collectDemonstrations(request: CollectRequest): Promise<CollectResult> {
  const { settings, tasks, workers, out, onProgress } = request;
  const shards = divide(request, planEpisodes(request));
  const counts = new Map(tasks.map((task) => [task, { successes: 0, attempts: 0 }]));
  const total = tasks.length * request.episodesPerTask;
  const progress = { done: 0, total, successes: 0 };
  onProgress(progress);
  const maker = { ...shardCollectorProgram, name: "collecting worker", options: settings };
  const run = { maker, launcher: processLauncher, shards, workers };
  const summaries = await runShards(run, ({ job, success }) => {
    const count = counts.get(job.task)!;
    count.attempts++;
    progress.done++;
    if (success) {
      count.successes++;
      progress.successes++;
    }
    onProgress(progress);
  });
  writeJsonFile(infoPath(out), describe(request, summaries));
  const sentences = findSuite(settings.suite).tasks.map(({ language }) => language);
  const sum = (pick: (summary: ShardSummary) => number) => summaries.reduce((all, one) => all + pick(one), 0);
  return {
    episodes: sum(({ episodes }) => episodes),
    frames: sum(({ frames }) => frames),
    tasks: [...counts].map(([task, count]) => ({ sentence: sentences[task] ?? "", ...count })),
  };
}

/** Tasks take turns, so that any part of a collection is balanced. */
export function planEpisodes({
  settings,
  tasks,
  episodesPerTask,
}: Pick<CollectRequest, "settings" | "tasks" | "episodesPerTask">): EpisodeJob[] {
  const { pack, tasks: entries } = findSuite(settings.suite);
  return Array.from({ length: episodesPerTask * tasks.length }, (_, index) => {
    const task = tasks[index % tasks.length]!;
    const round = Math.floor(index / tasks.length);
    const stored = settings.starts === "stored";
    return {
      task,
      start: stored ? round % pack.readInitStates(entries[task]!).count : -1,
      seed: startSeed("demonstrations", settings.seed, index),
    };
  });
}

function divide({ settings, out }: CollectRequest, jobs: readonly EpisodeJob[]): ShardJob[] {
  const wrists = settings.wrist ? handsOf(findSuite(settings.suite).pack) : 0;
  const frameBytes = settings.size ** 2 * 3 * (1 + wrists);
  const perShard = Math.max(1, Math.min(64, Math.floor(shardBytes / (frameBytes * settings.max_steps))));
  const count = Math.ceil(jobs.length / perShard);
  return Array.from({ length: count }, (_, index) => ({
    path: shardPath(out, index),
    jobs: jobs.slice(index * perShard, (index + 1) * perShard),
  }));
}

function describe({ settings, tasks, episodesPerTask }: CollectRequest, shards: ShardSummary[]): DatasetInfo {
  const { pack, tasks: entries } = findSuite(settings.suite);
  return {
    format: "reverie-demonstrations",
    version: 1,
    pack: pack.name,
    suite: settings.suite,
    tasks: entries.map(({ language }) => language),
    width: settings.size,
    height: settings.size,
    wrist: settings.wrist,
    ...(handsOf(pack) > 1 && { hands: handsOf(pack) }),
    fps: Math.round(1 / pack.control.period),
    shards,
    settings: { ...settings, tasks: [...tasks], episodes_per_task: episodesPerTask },
  };
}
