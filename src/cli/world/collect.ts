/** `world collect SUITE`: records episodes to make a world from, by scripted experts or by a policy. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  type DatasetInfo,
  type EpisodeJob,
  findSuite,
  infoPath,
  type RecordingSettings,
  recordingSettings,
  shardPath,
} from "#envs";
import { writeJsonFile } from "#formats";
import { UserError } from "#registry";
import type { PolicyPlay } from "#training";
import { ProgressLine } from "../collect/progress-line.ts";
import { runShards, type ShardJob } from "../collect/shard-workers.ts";
import { checked, pairs } from "./arguments.ts";
import { policySection } from "./policy-section.ts";

export const collectUsage =
  "world collect SUITE --out DIR [--episodes 3000] [--workers N] [--seed 0] [--set KEY=VALUE…]\n" +
  "                [--policy DIR [--temperatures 1,1,1.3,1.6] [--model-set KEY=VALUE…] [--device cpu]]";

/** What a recording process is told. */
export interface RecordingOrder {
  readonly settings: RecordingSettings;
  readonly policy?: {
    readonly section: Readonly<Record<string, unknown>>;
    readonly play: PolicyPlay;
    readonly device: string;
  };
}

const program = fileURLToPath(new URL("./recording-process.ts", import.meta.url));
/** Small, so that many processes end at about the same time. */
const episodesPerShard = 48;
const seedsPerCollection = 1_000_000;

const options = {
  out: { type: "string" },
  episodes: { type: "string", default: "3000" },
  workers: { type: "string", default: String(availableParallelism()) },
  seed: { type: "string", default: "0" },
  set: { type: "string", multiple: true },
  policy: { type: "string" },
  temperatures: { type: "string", default: "1,1,1.3,1.6" },
  "model-set": { type: "string", multiple: true },
  device: { type: "string", default: "cpu" },
} as const;

export async function collectFootage(argv: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const [suite, ...extra] = positionals;
  if (suite === undefined || extra.length > 0)
    throw new UserError(`which suite? usage: reverie ${collectUsage}`);
  if (values.out === undefined) throw new UserError("where to? give --out DIR");
  const settings = checked(recordingSettings, {
    suite,
    seed: Number(values.seed),
    ...pairs(values.set ?? []),
  });
  const order: RecordingOrder = {
    settings,
    ...(values.policy !== undefined && {
      policy: {
        section: policySection(values.policy, suite, pairs(values["model-set"] ?? [])),
        play: { temperatures: temperaturesOf(values.temperatures), at_once: 12 },
        device: values.device,
      },
    }),
  };
  const out = emptyFolder(values.out);
  const jobs = planEpisodes(settings, wholeNumber("--episodes", values.episodes));
  const summaries = await record(order, divide(jobs, out), wholeNumber("--workers", values.workers));
  writeJsonFile(infoPath(out), describe(order, summaries));
  const frames = summaries.reduce((sum, shard) => sum + shard.frames, 0);
  console.log(`${jobs.length} episodes, ${frames} frames in ${out}`);
}

async function record(order: RecordingOrder, shards: readonly ShardJob[], workers: number) {
  const total = shards.reduce((sum, { jobs }) => sum + jobs.length, 0);
  const line = new ProgressLine(`recording ${order.settings.suite}`);
  const progress = { done: 0, total, successes: 0 };
  const summaries = await runShards({ program, settings: order, shards, workers }, ({ success }) => {
    progress.done++;
    if (success) progress.successes++;
    line.show(progress);
  });
  line.end();
  return summaries;
}

/** Tasks take turns, so that any part of a collection is balanced. */
function planEpisodes({ suite, starts, seed }: RecordingSettings, count: number): EpisodeJob[] {
  const { pack, tasks } = findSuite(suite);
  return Array.from({ length: count }, (_, index) => {
    const task = index % tasks.length;
    const round = Math.floor(index / tasks.length);
    const start = starts === "stored" ? round % pack.readInitStates(tasks[task]!).count : -1;
    return { task, start, seed: seed * seedsPerCollection + index };
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
    shards,
    settings: {
      ...settings,
      ...(policy && { policy: policy.section, temperatures: policy.play.temperatures }),
    },
  };
}

function temperaturesOf(text: string): number[] {
  const values = text.split(",").map(Number);
  if (values.every((value) => Number.isFinite(value) && value >= 0)) return values;
  throw new UserError(`--temperatures takes numbers from 0 (greedy) up, such as 1,1,1.3; not "${text}"`);
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new UserError(`${option} takes a whole number above zero, not "${text}"`);
}

function emptyFolder(path: string): string {
  const folder = resolve(path);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UserError(`${path} is not empty; give another --out or remove it`);
  mkdirSync(folder, { recursive: true });
  return folder;
}
