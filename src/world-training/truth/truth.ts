/**
 * How far imagination is from the truth: the same start and the same actions, in both.
 *
 * Frames: PSNR, SSIM and the drift of latents by how many actions lie between a frame and the start. Success: the reward model's
 * prediction on imagined episodes against what really happened, at the chosen threshold and at others: how often a real failure is imagined
 * as a success and a real success as a failure, which do not depend on how often the policy succeeds, and how often an imagined success was
 * a failure, which does: it falls as a policy improves, with the same world. The reward model alone: its
 * AUC and calibration, on real frames and on imagined ones, and how often it would agree if it saw the truth.
 */
import { type SuccessCriterion, succeeds } from "#envs";
import type { RewardModel } from "#rewards";
import { noGrad, scope, type Tensor } from "#tensor";
import { SlotNoise, type World } from "#worlds";
import { type Dream, dream } from "../dreams/dream.ts";
import { auc, calibrationError, type Proportion, proportion } from "./meters.ts";
import { byFrame, type FrameError, frameErrors, type HorizonRow, mean, pictures } from "./truth-frames.ts";
import type { TrueEpisode, TruthSource } from "./truth-source.ts";

export interface TruthOptions extends SuccessCriterion {
  readonly chunks: number; // imagined per episode
  readonly batch: number; // episodes imagined together
  readonly seed: number;
  readonly onProgress?: (done: number, total: number) => void;
  /** Sees each group while its tensors live: for videos. */
  readonly onGroup?: (dreamt: Dream, truths: readonly TrueEpisode[], tasks: readonly number[]) => void;
}

export interface OutcomeRates {
  readonly dreamSuccess: Proportion;
  readonly trueSuccess: Proportion;
  /** Of true failures, those that were imagined as successes: P(dream success | real failure). */
  readonly falsePositive: Proportion;
  /** Of true successes, those that were imagined as failures: P(dream failure | real success). */
  readonly missedSuccess: Proportion;
  /** Of imagined successes, those that were failures: P(real failure | dream success). Depends on the policy's success rate. */
  readonly falseSuccess: Proportion;
  readonly agreement: Proportion;
}

/** Of recorded episodes that were only encoded and decoded. */
export interface AutoencoderTruth extends OutcomeRates {
  readonly episodes: number;
  readonly psnr: number; // dB, mean over frames
}

export interface RewardModelScore {
  readonly auc: number;
  readonly calibrationError: number;
  readonly frames: number;
}

export interface TruthReport extends OutcomeRates {
  readonly episodes: number;
  readonly threshold: number;
  readonly holdFrames: number;
  readonly frames: readonly HorizonRow[];
  readonly firstChunkPsnr: number;
  readonly judge: { readonly real: RewardModelScore; readonly dreamt: RewardModelScore };
  /** Of the reward model's outcomeRates on the true frames with the ground truth: more than this no world can reach. */
  readonly judgeAgreement: Proportion;
  readonly sweep: readonly (OutcomeRates & { readonly threshold: number; readonly holdFrames: number })[];
  readonly tasks: readonly (OutcomeRates & { readonly task: string; readonly gap: number })[];
}

export interface Outcome {
  readonly task: number;
  readonly opinions: readonly number[];
  readonly truth: boolean;
}

/** Opinions of frames beside the ground truth. */
interface Opinions {
  readonly said: number[];
  readonly so: number[];
}

export async function measureTruth(
  world: World,
  rewardModel: RewardModel,
  source: TruthSource,
  options: TruthOptions,
): Promise<TruthReport> {
  const noise = new SlotNoise(options.batch, options.seed);
  const errors: FrameError[] = [];
  const outcomes: Outcome[] = [];
  const seenTruly: Outcome[] = [];
  const [real, dreamt]: [Opinions, Opinions] = [
    { said: [], so: [] },
    { said: [], so: [] },
  ];
  for (let from = 0; from < source.episodes; from += options.batch) {
    scope(() => {
      const group = source.group(from, Math.min(options.batch, source.episodes - from), world.chunk);
      const seen = dream({ world, rewardModel, noise }, group.starts, options.chunks, group.actions);
      const truths = group.truth(seen.actions);
      const sentences = group.tasks.map((task) => source.tasks[task]!);
      for (const [b, truth] of truths.entries()) {
        const opinions = seen.opinions[b]!.slice(0, truth.success.length);
        const known = { task: group.tasks[b]!, truth: truth.success.includes(true) };
        const ofTruth = scoreFrames(rewardModel, pictures(truth.frames, seen.frames), sentences[b]!);
        outcomes.push({ ...known, opinions });
        seenTruly.push({ ...known, opinions: ofTruth });
        add(dreamt, opinions, truth.success);
        add(real, ofTruth, truth.success);
      }
      errors.push(...frameErrors(world, seen, truths));
      options.onGroup?.(seen, truths, group.tasks);
    });
    options.onProgress?.(Math.min(from + options.batch, source.episodes), source.episodes);
    await new Promise(setImmediate);
  }
  const judgeAgreement = outcomeRates(seenTruly, options.threshold, options.holdFrames).agreement;
  const scores = { judge: { real: score(real), dreamt: score(dreamt) }, judgeAgreement };
  return report(outcomes, errors, scores, source.tasks, world.chunk, options);
}

function add({ said, so }: Opinions, opinions: readonly number[], success: readonly boolean[]): void {
  said.push(...opinions);
  so.push(...success.map(Number));
}

const score = ({ said, so }: Opinions): RewardModelScore => ({
  auc: auc(said, so),
  calibrationError: calibrationError(said, so),
  frames: said.length,
});

/** The reward model's opinion of each of an episode's pictures, [T, 3, H, W]. */
export const scoreFrames = (rewardModel: RewardModel, pictures_T3HW: Tensor, sentence: string): number[] =>
  noGrad(() =>
    scope(() =>
      rewardModel.judge(pictures_T3HW, Array<string>(pictures_T3HW.shape[0]!).fill(sentence)).cpu(),
    ),
  )
    .toArray()
    .map(Number);

const sweepOf = [0.5, 0.8, 0.9, 0.95].flatMap((threshold) =>
  [1, 2, 3].map((holdFrames) => ({ threshold, holdFrames })),
);

function report(
  outcomes: readonly Outcome[],
  errors: readonly FrameError[],
  scores: Pick<TruthReport, "judge" | "judgeAgreement">,
  tasks: readonly string[],
  chunk: number,
  { threshold, holdFrames }: TruthOptions,
): TruthReport {
  const first = errors.filter(({ frame }) => frame <= chunk);
  return {
    episodes: outcomes.length,
    threshold,
    holdFrames,
    ...outcomeRates(outcomes, threshold, holdFrames),
    ...scores,
    firstChunkPsnr: mean(first.map((error) => error.psnr)),
    frames: byFrame(errors),
    sweep: sweepOf.map((at) => ({ ...at, ...outcomeRates(outcomes, at.threshold, at.holdFrames) })),
    tasks: tasks.map((task, id) => {
      const own = outcomeRates(
        outcomes.filter((outcome) => outcome.task === id),
        threshold,
        holdFrames,
      );
      return { task, gap: own.dreamSuccess.share - own.trueSuccess.share, ...own };
    }),
  };
}

export function outcomeRates(
  outcomes: readonly Outcome[],
  threshold: number,
  holdFrames: number,
): OutcomeRates {
  const judged = outcomes.map(({ opinions, truth }) => ({
    truth,
    dreamt: succeeds(opinions, { threshold, holdFrames }),
  }));
  type Judged = (typeof judged)[number];
  const share = (part: (o: Judged) => boolean, of: (o: Judged) => boolean = () => true): Proportion =>
    proportion(judged.filter((o) => of(o) && part(o)).length, judged.filter(of).length);
  const [trueSuccess, falseSuccess] = [
    share((o) => o.truth),
    share(
      (o) => !o.truth,
      (o) => o.dreamt,
    ),
  ];
  return {
    dreamSuccess: share((o) => o.dreamt),
    trueSuccess,
    falsePositive: falsePositiveOf({ trueSuccess, falseSuccess }),
    falseSuccess,
    missedSuccess: share(
      (o) => !o.dreamt,
      (o) => o.truth,
    ),
    agreement: share((o) => o.dreamt === o.truth),
  };
}

type Counts = Pick<Proportion, "count" | "of">;

/** Also from reports of earlier versions, which do not have it. */
export const falsePositiveOf = (counted: {
  readonly falseSuccess: Pick<Counts, "count">;
  readonly trueSuccess: Counts;
}): Proportion => proportion(counted.falseSuccess.count, counted.trueSuccess.of - counted.trueSuccess.count);
