/**
 * One round of co-evolution: a world catches up with the policy that was trained in it, or stays as it was.
 *
 * A policy in training finds what its world gets wrong. So now and then it plays in the simulator; denoiser and reward model go
 * on learning from those episodes beside the old ones, in a copy of the world, and both are measured on episodes kept
 * apart. The copy takes the world's place only if the meters did not get worse: P(dream success | real failure) within a tolerance, and
 * agreement. `refreshWorld` does so to a folder, by hand; a run with `runner.co_evolution` makes candidates for its own copy.
 */
import { appendFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { worldRefreshFrame } from "#config";
import { type Imagination, releaseImagination } from "#envs";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import type { LoopHooks } from "../learning/training-loop.ts";
import { openWorld } from "../open-world.ts";
import { openRewardModel } from "../reward-model/open-reward-model.ts";
import { measureTruth, type TruthReport } from "../truth/truth.ts";
import { RecordedTruth } from "../truth/truth-source.ts";
import { continueLearning } from "./continue-learning.ts";

/** How the world is measured before and after. */
const examKeys = {
  episodes: z.int().positive().default(256).describe("measured before and after"),
  chunks: z.int().positive().default(5),
  batch: z.int().positive().default(64).describe("episodes imagined together"),
  num_sampling_steps: z.int().positive().default(2),
  threshold: z.number().min(0).max(1).default(0.8),
  hold_frames: z.int().positive().default(1),
  seed: z.int().min(0).default(0),
};

export const refreshSettings = worldRefreshFrame.extend(examKeys);
export type RefreshSettings = z.infer<typeof refreshSettings>;

export interface RefreshOutcome {
  readonly accepted: boolean;
  readonly reason: string;
  readonly before: TruthReport;
  readonly after: TruthReport;
}

/** Opens what imagines and what judges from a world's folder, as those who use the world do. */
export type ImaginationOpener = (folder: string) => Promise<Imagination>;

export interface Candidacy {
  readonly world: string; // to go on from; it is not changed
  readonly candidate: string; // the folder to make
  readonly lessons: RecordedFrames;
  readonly exam: RecordedFrames;
  readonly settings: RefreshSettings;
  readonly open?: ImaginationOpener;
  readonly hooksOf?: (what: "denoiser" | "judge") => LoopHooks;
  /** How far a measurement is. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Makes a candidate that has gone on learning, and says whether it may take the world's place. */
export async function makeCandidate(wishes: Candidacy): Promise<RefreshOutcome> {
  const { world, candidate, lessons, exam, settings, hooksOf = () => ({}), onProgress } = wishes;
  const open = wishes.open ?? plainOpener(exam, settings);
  const before = await measureWorld(world, exam, settings, open, onProgress);
  rmSync(candidate, { recursive: true, force: true });
  copyWorld(world, candidate);
  await continueLearning(world, candidate, lessons, settings, hooksOf);
  const after = await measureWorld(candidate, exam, settings, open, onProgress);
  return { ...acceptance(before, after, settings.tolerance), before, after };
}

/** Refreshes a folder in place; the world before stays beside it as `.previous` until the next round. */
export async function refreshWorld(
  world: string,
  lessons: RecordedFrames,
  exam: RecordedFrames,
  settings: RefreshSettings,
  hooks: LoopHooks = {},
): Promise<RefreshOutcome> {
  const candidate = `${world}.candidate`;
  const outcome = await makeCandidate({ world, candidate, lessons, exam, settings, hooksOf: () => hooks });
  if (outcome.accepted) replace(world, candidate);
  else rmSync(candidate, { recursive: true });
  note(world, outcome);
  return outcome;
}

/** Without what trainings left to go on from, and their locks. */
export function copyWorld(from: string, to: string): void {
  const isLeft = /\.(resume|finished|set-aside)\.safetensors$|\.lock$/;
  cpSync(from, to, { recursive: true, filter: (path) => !isLeft.test(path) });
}

function plainOpener({ device, size }: RecordedFrames, settings: RefreshSettings): ImaginationOpener {
  return async (folder) => ({
    world: await openWorld(folder, { device, size, samplingSteps: settings.num_sampling_steps }),
    rewardModel: openRewardModel(folder, device),
  });
}

/** How true a world is on recorded episodes. */
export async function measureWorld(
  folder: string,
  exam: RecordedFrames,
  settings: RefreshSettings,
  open: ImaginationOpener = plainOpener(exam, settings),
  onProgress?: (done: number, total: number) => void,
): Promise<TruthReport> {
  const imagination = await open(folder);
  const { world, rewardModel } = imagination;
  const { episodes, chunks, batch, threshold, hold_frames: holdFrames, seed } = settings;
  const source = new RecordedTruth(exam, { episodes, chunk: world.chunk });
  try {
    const options = { chunks, batch, threshold, holdFrames, seed, ...(onProgress && { onProgress }) };
    return await measureTruth(world, rewardModel, source, options);
  } finally {
    releaseImagination(imagination);
  }
}

/** Without real failures none can be imagined as a success. */
const falseShare = ({ falsePositive }: TruthReport): number =>
  falsePositive.of > 0 ? falsePositive.share : 0;

export function acceptance(
  before: TruthReport,
  after: TruthReport,
  tolerance: number,
): { accepted: boolean; reason: string } {
  const told = (name: string, from: number, to: number): string =>
    `${name} ${(100 * from).toFixed(1)} to ${(100 * to).toFixed(1)} %`;
  const reason = [
    told("false positives", falseShare(before), falseShare(after)),
    told("agreement", before.agreement.share, after.agreement.share),
  ].join(", ");
  const worse =
    falseShare(after) > falseShare(before) + tolerance ||
    after.agreement.share < before.agreement.share - tolerance;
  return { accepted: !worse, reason };
}

function replace(world: string, candidate: string): void {
  const previous = `${world}.previous`;
  rmSync(previous, { recursive: true, force: true });
  renameSync(world, previous);
  renameSync(candidate, world);
}

/** The numbers of a report that a round is remembered by. */
export const shortReport = ({
  falsePositive,
  falseSuccess,
  missedSuccess,
  agreement,
  dreamSuccess,
  trueSuccess,
}: TruthReport) => ({
  falsePositive,
  falseSuccess,
  missedSuccess,
  agreement,
  dreamSuccess,
  trueSuccess,
});

function note(world: string, { accepted, reason, before, after }: RefreshOutcome): void {
  const path = join(world, "rounds.jsonl");
  const round = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").length : 0;
  const line = { round, accepted, reason, before: shortReport(before), after: shortReport(after) };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}
