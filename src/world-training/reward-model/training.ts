/**
 * Trains a world's reward model on recorded frames, real ones and ones that went through the world's autoencoder.
 *
 * At run time a reward model sees imagined frames, so most of its lessons are decoded from latents with a little noise, and where the world can
 * imagine already, some may be imagined (`dreamt_share`). A share of frames is shown under another task's name, with that task's truth: the
 * instruction decides.
 */
import { join } from "node:path";
import { z } from "zod";
import { readTorchState, writeJsonFile, writeTorchState } from "#formats";
import { UserError } from "#registry";
import {
  ResnetReward,
  type RewardModelLesson,
  rewardModelLoss,
  setLearning,
  TaskResnetReward,
  type TrainableRewardModel,
  type TrunkWidths,
} from "#rewards";
import { noGrad, scope } from "#tensor";
import { trainingOfWorld } from "../families.ts";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { dreamtBy } from "../imagined/dreamt-frames.ts";
import { initialize } from "../learning/initialize.ts";
import { stored, storedType } from "../learning/stored-weights.ts";
import {
  type Course,
  type LoopHooks,
  type Teacher,
  trainingLoop,
  withStreams,
} from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { type LessonSources, RewardModelLessons } from "./lessons.ts";

export const rewardModelSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(3000),
  batch_size: z.int().positive().default(256),
  lr: z.number().positive().default(1e-3),
  widths: z.array(z.int().positive()).length(4).default([32, 64, 96, 128]),
  decoded_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe("of lessons that went through the autoencoder"),
  dreamt_share: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe("of lessons that the world imagined from recorded starts and actions; it must be trained"),
  dreamt_episodes: z.int().positive().default(600).describe("that are imagined for them, before training"),
  latent_noise: z.number().min(0).default(0.15).describe("largest noise on their latents"),
  success_share: z.number().min(0.05).max(0.95).default(0.4).describe("of lessons that show success"),
  other_task_share: z.number().min(0).max(1).default(0.3).describe("of lessons shown under another task"),
  failure_weight: z.number().positive().default(2),
  init_from: z.string().nullish().describe("a world whose reward model to go on from"),
  file: z
    .string()
    .regex(/^[\w-]+$/)
    .nullish()
    .describe(
      "name of its file without ending, for a second reward model in the same folder (env.train.judges)",
    ),
  store: storedType,
});
export type RewardModelSettings = z.infer<typeof rewardModelSettings>;

export async function trainRewardModel(
  frames: RecordedFrames,
  settings: RewardModelSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  if (settings.decoded_share + settings.dreamt_share > 1)
    throw new UserError(
      `decoded_share (${settings.decoded_share}) and dreamt_share (${settings.dreamt_share}) are shares of the same lessons: together at most 1`,
    );
  const { rows: seen } = await (await trainingOfWorld(world)).through(world, frames);
  const { dreamt_share, dreamt_episodes: episodes, seed } = settings;
  const dreamt =
    dreamt_share > 0 ? await dreamtBy(world, frames, { episodes, seed, say: hooks.say }) : undefined;
  const { rewardModel, training, teacher } = rewardModelCourse(frames, { seen, dreamt }, settings);
  await trainingLoop(training, frames.device, teacher, hooks);
  await training.withAverages(async () => {
    settleStatistics(rewardModel, frames, settings, teacher);
    setLearning(rewardModel, false);
    writeRewardModel(world, rewardModel, frames, settings);
  });
  training.dispose();
}

export interface RewardModelCourse extends Course<RewardModelLesson> {
  readonly rewardModel: TrainableRewardModel;
}

/** Everything that steps need, before the first of them. */
export function rewardModelCourse(
  frames: RecordedFrames,
  sources: LessonSources,
  settings: RewardModelSettings,
): RewardModelCourse {
  const rewardModel = newRewardModel(frames, settings);
  const lessons = new RewardModelLessons(frames, sources, settings);
  const training = new WeightTraining(
    rewardModel.network,
    weightTrainingSettings.strip().parse(settings),
    (lesson: RewardModelLesson) => rewardModelLoss(rewardModel, lesson, settings.failure_weight),
  );
  setLearning(rewardModel, true);
  return { rewardModel, training, teacher: (random) => lessons.draw(random) };
}

function newRewardModel(
  { tasks, device }: RecordedFrames,
  { widths, seed, init_from }: RewardModelSettings,
): TrainableRewardModel {
  const trunk = widths as unknown as TrunkWidths;
  const rewardModel =
    tasks.length > 1
      ? new TaskResnetReward(
          tasks,
          { widths: trunk, tasks: tasks.length, embedding: 64, hidden: 256 },
          { device },
        )
      : new ResnetReward(trunk, { device });
  initialize(rewardModel.network, seed);
  if (init_from) {
    const source = join(init_from, `${fileName(rewardModel)}.pth`);
    rewardModel.network.loadState(readTorchState(source), { source });
  }
  return rewardModel;
}

const fileName = (rewardModel: TrainableRewardModel): string =>
  rewardModel instanceof TaskResnetReward ? "taskemb_resnet_rm" : "resnet_rm";

/** Batch norms gathered the statistics of the weights in training; the averaged weights have their own. */
function settleStatistics(
  rewardModel: TrainableRewardModel,
  { device }: RecordedFrames,
  { seed, steps }: RewardModelSettings,
  draw: Teacher<RewardModelLesson>,
): void {
  for (let i = 0; i < 40; i++) {
    noGrad(() =>
      scope(() => {
        const { pictures, tasks } = withStreams(seed, steps + i, device, draw);
        rewardModel.logits(pictures, tasks);
      }),
    );
  }
}

function writeRewardModel(
  world: string,
  rewardModel: TrainableRewardModel,
  { tasks }: RecordedFrames,
  { store, file }: RewardModelSettings,
): void {
  const name = file ?? fileName(rewardModel);
  writeTorchState(join(world, `${name}.pth`), stored(rewardModel.state(), store));
  writeJsonFile(join(world, `${name}.json`), { type: rewardModel.name, instructions: tasks });
}
