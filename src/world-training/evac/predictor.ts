/**
 * Trains an EVAC world's action predictor, and follows the hand of every recorded episode with it.
 *
 * At run time all that an EVAC world knows of the hand is where its predictor believes it to be. Its denoiser therefore
 * learns from those beliefs, walked from each episode's first pose, and not from the recorded poses: what it is told in
 * training and in imagination is the same, mistakes included.
 *
 * Shapes: E episodes, F frames, K actions of a walk, A action size, P pose size (8).
 */
import { join } from "node:path";
import { z } from "zod";
import { writeTorchState } from "#formats";
import { UserError } from "#registry";
import { keep, noGrad, scope, type Tensor, tensor } from "#tensor";
import { evacParts } from "#worlds";
import { pickRows } from "../frames/encoded-frames.ts";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { initialize } from "../learning/initialize.ts";
import { type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { rowsOf } from "./view.ts";

export const predictorSettings = z.strictObject({
  predictor_hidden: z.int().min(16).default(128),
  predictor_steps: z.int().positive().default(1500),
  predictor_batch_size: z.int().positive().default(512),
  predictor_lr: z.number().positive().default(2e-3),
  predictor_walk: z
    .int()
    .positive()
    .default(8)
    .describe("actions of a lesson; no more than the longest episode"),
  predictor_motion: z
    .boolean()
    .default(true)
    .describe("it sees the hand's last change of pose; published ones do not"),
});
export type PredictorSettings = z.infer<typeof predictorSettings>;

export interface PoseFollower {
  readonly predictor: evacParts.ActionPredictor;
  readonly scale: evacParts.PoseScale;
}

const poseSize = 8;
/** Numbers that move less are not blown up; meters, or parts of a quaternion. */
const smallestSpread = 0.01;

export async function trainPredictor(
  frames: RecordedFrames,
  poses: readonly (readonly number[])[],
  settings: PredictorSettings & { readonly seed: number; readonly cuda_graph: boolean },
  world: string,
  hooks: LoopHooks = {},
): Promise<PoseFollower> {
  const places = keep(rowsOf(poses, frames));
  const scale = scaleOf(places);
  const { predictor_hidden: hidden, predictor_motion: motion } = settings;
  const sizes = { action: frames.actions.shape[1]!, pose: poseSize, hidden, motion };
  const predictor = new evacParts.ActionPredictor(sizes, { device: frames.device });
  initialize(predictor, settings.seed);
  evacParts.beginAsIdentity(predictor);
  const training = new WeightTraining(
    predictor,
    weightTrainingSettings.parse({
      steps: settings.predictor_steps,
      batch_size: settings.predictor_batch_size,
      lr: settings.predictor_lr,
      lr_warmup_steps: 20,
      ema_decay: 0,
      seed: settings.seed,
      cuda_graph: settings.cuda_graph,
    }),
    (lesson: evacParts.WalkLesson) => evacParts.walkLoss(predictor, scale, lesson),
  );
  await trainingLoop(training, frames.device, walks(frames, places, settings), hooks);
  training.dispose();
  places.dispose();
  const { mean: abs_action_mean, std: abs_action_std } = scale;
  const mark = settings.predictor_motion ? { [evacParts.readsMotion]: tensor([1]) } : {};
  const numbers = new Map(Object.entries({ abs_action_mean, abs_action_std, ...mark }));
  const state = [...predictor.state(), ...numbers].map(
    ([name, value]) => [name, value.detach().cpu()] as const,
  );
  writeTorchState(join(world, evacParts.evacFiles.predictor), new Map(state));
  return { predictor, scale };
}

/** The predictor that training left in a world's folder. */
export function readPredictor(world: string, { device }: RecordedFrames): PoseFollower {
  const path = join(world, evacParts.evacFiles.predictor);
  const { predictor, scale } = evacParts.loadActionPredictor(path, { device });
  if (!scale) throw new UserError(`${path} does not say how poses are scaled; train the world again`);
  return { predictor, scale };
}

function scaleOf(poses_FP: Tensor): evacParts.PoseScale {
  return scope(() => ({
    mean: keep(poses_FP.mean(0, true)),
    std: keep(poses_FP.std(0, 0, true).clamp(smallestSpread)),
  }));
}

function walks(
  frames: RecordedFrames,
  places_FP: Tensor,
  { predictor_batch_size: count, predictor_walk }: PredictorSettings,
): Teacher<evacParts.WalkLesson> {
  const length = Math.min(predictor_walk, longestOf(frames));
  const long = frames.episodes.filter((episode) => episode.length >= length);
  return ({ numbers }) => {
    const before: number[] = []; // where the hand was one action earlier; at rest, where it is
    const rows = Array.from({ length: count }, () => {
      const episode = long[Math.floor(numbers() * long.length)]!;
      const row = episode.first + Math.floor(numbers() * (episode.length - length + 1));
      before.push(Math.max(episode.first, row - 1));
      return row;
    });
    const pose = places_FP.indexSelect(0, rowIndex(rows, frames));
    const after = (steps: number): Tensor =>
      rowIndex(
        rows.flatMap((row) => Array.from({ length }, (_, k) => row + k + steps)),
        frames,
      ).view([count, length]);
    return {
      pose,
      motion: pose.sub(places_FP.indexSelect(0, rowIndex(before, frames))),
      actions: pickRows(frames.actions, after(0)),
      poses: pickRows(places_FP, after(1)),
    };
  };
}

/** Where the predictor believes the hand to be at every row, from each episode's first pose on. */
export function walkedPoses(
  { predictor, scale }: PoseFollower,
  frames: RecordedFrames,
  recorded: readonly (readonly number[])[],
): number[][] {
  const { episodes } = frames;
  const longest = longestOf(frames);
  const rows = episodes.flatMap(({ first, length }) =>
    Array.from({ length: longest }, (_, step) => first + Math.min(step, length)),
  );
  const walked = noGrad(() =>
    scope(() => {
      const actions = frames.actions
        .indexSelect(0, rowIndex(rows, frames))
        .unflatten(0, [episodes.length, longest]);
      const from = rowsOf(
        episodes.map(({ first }) => recorded[first]!),
        frames,
      );
      return evacParts
        .walk(predictor, scale, evacParts.restingHand(from), actions)
        .cpu()
        .contiguous()
        .data() as Float32Array;
    }),
  );
  const believed = recorded.map((pose) => [...pose]);
  for (const [e, { first, length }] of episodes.entries()) {
    for (let step = 0; step < length; step++) {
      const at = (e * longest + step) * poseSize;
      believed[first + step + 1] = Array.from(walked.subarray(at, at + poseSize));
    }
  }
  return believed;
}

/** Meters between believed and recorded hands, on average, after this many actions or where the episode ended before. */
export function followingError(
  { episodes }: RecordedFrames,
  recorded: readonly (readonly number[])[],
  believed: readonly (readonly number[])[],
  steps: number,
): number {
  const errors = episodes.map(({ first, length }) => {
    const row = first + Math.min(steps, length);
    return Math.hypot(...[0, 1, 2].map((i) => recorded[row]![i]! - believed[row]![i]!));
  });
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

const longestOf = ({ episodes }: RecordedFrames): number =>
  episodes.reduce((longest, { length }) => Math.max(longest, length), 1);
