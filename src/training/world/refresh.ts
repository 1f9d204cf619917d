/**
 * One round of co-evolution: a world catches up with the policy that was trained in it, or stays as it was.
 *
 * A policy in training finds what its world gets wrong. So now and then it plays in the simulator; denoiser and judge go
 * on learning from those episodes beside the old ones, in a copy of the world, and both are measured on episodes kept
 * apart. The copy takes the world's place only if the meters did not get worse: false success within a tolerance, and
 * agreement. Every round leaves a line in the world's `rounds.jsonl`, whatever its outcome.
 */
import { appendFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { judgeSettings, trainJudge } from "./judge.ts";
import { familyOf, openJudge, openWorld } from "./open-world.ts";
import { denoiserSettings, trainDenoiser } from "./opensora-denoiser.ts";
import type { RecordedFrames } from "./recorded-frames.ts";
import type { LoopHooks } from "./training-loop.ts";
import { measureTruth, type TruthReport } from "./truth.ts";
import { RecordedTruth } from "./truth-source.ts";

export const refreshSettings = z.strictObject({
  steps: z.int().positive().default(1500).describe("of the denoiser"),
  judge_steps: z.int().positive().default(500),
  batch_size: z.int().positive().default(256),
  lr: z.number().positive().default(1e-4),
  judge_lr: z.number().positive().default(2e-4),
  precision: z.enum(["fp32", "bf16"]).default("fp32"),
  cuda_graph: z.boolean().default(true),
  episodes: z.int().positive().default(256).describe("measured before and after"),
  chunks: z.int().positive().default(5),
  batch: z.int().positive().default(64).describe("episodes imagined together"),
  num_sampling_steps: z.int().positive().default(2),
  threshold: z.number().min(0).max(1).default(0.8),
  hold_frames: z.int().positive().default(1),
  tolerance: z.number().min(0).default(0.02).describe("by which the meters may worsen"),
  seed: z.int().min(0).default(0),
});
export type RefreshSettings = z.infer<typeof refreshSettings>;

export interface RefreshOutcome {
  readonly accepted: boolean;
  readonly reason: string;
  readonly before: TruthReport;
  readonly after: TruthReport;
}

export async function refreshWorld(
  world: string,
  lessons: RecordedFrames,
  exam: RecordedFrames,
  settings: RefreshSettings,
  hooks: LoopHooks = {},
): Promise<RefreshOutcome> {
  if (familyOf(world) !== "opensora")
    throw new UserError(`${world} is a ${familyOf(world)} world; only OpenSora worlds can be refreshed`);
  const before = await measure(world, exam, settings);
  const candidate = `${world}.candidate`;
  rmSync(candidate, { recursive: true, force: true });
  cpSync(world, candidate, { recursive: true, filter: (path) => !path.endsWith(".resume.safetensors") });
  await learn(world, candidate, lessons, settings, hooks);
  const after = await measure(candidate, exam, settings);
  const outcome = { ...verdict(before, after, settings.tolerance), before, after };
  if (outcome.accepted) replace(world, candidate);
  else rmSync(candidate, { recursive: true });
  note(world, outcome);
  return outcome;
}

async function learn(
  world: string,
  candidate: string,
  lessons: RecordedFrames,
  settings: RefreshSettings,
  hooks: LoopHooks,
): Promise<void> {
  const { steps, judge_steps, batch_size, lr, judge_lr, precision, cuda_graph, seed } = settings;
  const shared = { batch_size, cuda_graph, seed, init_from: world, lr_warmup_steps: 50 };
  const sizes = z
    .looseObject({ depth: z.int(), hidden_size: z.int(), num_heads: z.int(), patch_size: z.array(z.int()) })
    .parse(readJsonFile(join(world, "config.json")));
  const { depth, hidden_size, num_heads, patch_size, text_weights, chunk, condition_frame_length } = sizes;
  const denoiser = { depth, hidden_size, num_heads, patch_size, text_weights, chunk, condition_frame_length };
  await trainDenoiser(
    lessons,
    denoiserSettings.parse({ ...shared, ...denoiser, steps, lr, precision }),
    candidate,
    hooks,
  );
  const widths = openJudge(world, "cpu").state().get("visual_encoder.1.0.conv1.weight");
  if (!widths) return; // a judge without tasks is left as it is
  const judge = { widths: judgeWidths(world), steps: judge_steps, lr: judge_lr };
  await trainJudge(lessons, judgeSettings.parse({ ...shared, ...judge }), candidate, hooks);
}

function judgeWidths(world: string): number[] {
  const state = openJudge(world, "cpu").state();
  return [1, 2, 3, 4].map((stage) => state.get(`visual_encoder.${stage}.0.conv1.weight`)?.shape[0] ?? 0);
}

async function measure(
  folder: string,
  exam: RecordedFrames,
  settings: RefreshSettings,
): Promise<TruthReport> {
  const { device, size } = exam;
  const world = await openWorld(folder, { device, size, samplingSteps: settings.num_sampling_steps });
  const source = new RecordedTruth(exam, { episodes: settings.episodes, chunk: world.chunk });
  const { chunks, batch, threshold, hold_frames: holdFrames, seed } = settings;
  return measureTruth(world, openJudge(folder, device), source, {
    chunks,
    batch,
    threshold,
    holdFrames,
    seed,
  });
}

/** Without imagined successes there are no false ones. */
const falseShare = ({ falseSuccess }: TruthReport): number => (falseSuccess.of > 0 ? falseSuccess.share : 0);

export function verdict(
  before: TruthReport,
  after: TruthReport,
  tolerance: number,
): { accepted: boolean; reason: string } {
  const told = (name: string, from: number, to: number): string =>
    `${name} ${(100 * from).toFixed(1)} to ${(100 * to).toFixed(1)} %`;
  const reason = [
    told("false success", falseShare(before), falseShare(after)),
    told("agreement", before.agreement.share, after.agreement.share),
  ].join(", ");
  const worse =
    falseShare(after) > falseShare(before) + tolerance ||
    after.agreement.share < before.agreement.share - tolerance;
  return { accepted: !worse, reason };
}

/** The old world stays beside the new one until the next round. */
function replace(world: string, candidate: string): void {
  const previous = `${world}.previous`;
  rmSync(previous, { recursive: true, force: true });
  renameSync(world, previous);
  renameSync(candidate, world);
}

function note(world: string, { accepted, reason, before, after }: RefreshOutcome): void {
  const path = join(world, "rounds.jsonl");
  const round = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n").length : 0;
  const short = ({ falseSuccess, missedSuccess, agreement, dreamSuccess, trueSuccess }: TruthReport) => ({
    falseSuccess,
    missedSuccess,
    agreement,
    dreamSuccess,
    trueSuccess,
  });
  const line = { round, accepted, reason, before: short(before), after: short(after) };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}
