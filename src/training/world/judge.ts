/**
 * Trains a world's judge on recorded frames, real ones and ones that went through the world's autoencoder.
 *
 * At run time a judge sees imagined frames, so most of its lessons are decoded from latents with a little noise. A share
 * of frames is shown under another task's name, with that task's truth: the instruction decides.
 */
import { join } from "node:path";
import { z } from "zod";
import { readTorchState, writeJsonFile, writeTorchState } from "#formats";
import {
  type JudgeLesson,
  judgeLoss,
  ResnetReward,
  setLearning,
  TaskResnetReward,
  type TrainableJudge,
  type TrunkWidths,
} from "#rewards";
import { cat, type Generator, noGrad, scope, type Tensor, tensor } from "#tensor";
import { initialise } from "./initialise.ts";
import type { RecordedFrames } from "./recorded-frames.ts";
import { stored, storedType } from "./stored-weights.ts";
import { type SeenThrough, throughAutoencoder } from "./through-autoencoder.ts";
import {
  type Course,
  type LoopHooks,
  type StepRandom,
  type Teacher,
  trainingLoop,
  withStreams,
} from "./training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "./weight-training.ts";

export const judgeSettings = weightTrainingSettings.extend({
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
  latent_noise: z.number().min(0).default(0.15).describe("largest noise on their latents"),
  success_share: z.number().min(0.05).max(0.95).default(0.4).describe("of lessons that show success"),
  other_task_share: z.number().min(0).max(1).default(0.3).describe("of lessons shown under another task"),
  failure_weight: z.number().positive().default(2),
  init_from: z.string().nullish().describe("a world whose judge to go on from"),
  file: z
    .string()
    .regex(/^[\w-]+$/)
    .nullish()
    .describe("name of its file without ending, for a second judge in the same folder (env.train.judges)"),
  store: storedType,
});
export type JudgeSettings = z.infer<typeof judgeSettings>;

export async function trainJudge(
  frames: RecordedFrames,
  settings: JudgeSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { judge, training, teacher } = judgeCourse(frames, throughAutoencoder(world, frames), settings);
  await trainingLoop(training, frames.device, teacher, hooks);
  await training.withAverages(async () => {
    settleStatistics(judge, frames, settings, teacher);
    setLearning(judge, false);
    writeJudge(world, judge, frames, settings);
  });
  training.dispose();
}

export interface JudgeCourse extends Course<JudgeLesson> {
  readonly judge: TrainableJudge;
}

/** Everything that steps need, before the first of them. */
export function judgeCourse(frames: RecordedFrames, seen: SeenThrough, settings: JudgeSettings): JudgeCourse {
  const judge = newJudge(frames, settings);
  const lessons = new Lessons(frames, seen, settings);
  const training = new WeightTraining(
    judge.network,
    weightTrainingSettings.strip().parse(settings),
    (lesson: JudgeLesson) => judgeLoss(judge, lesson, settings.failure_weight),
  );
  setLearning(judge, true);
  return { judge, training, teacher: (random) => lessons.draw(random) };
}

function newJudge(
  { tasks, device }: RecordedFrames,
  { widths, seed, init_from }: JudgeSettings,
): TrainableJudge {
  const trunk = widths as unknown as TrunkWidths;
  const judge =
    tasks.length > 1
      ? new TaskResnetReward(
          tasks,
          { widths: trunk, tasks: tasks.length, embedding: 64, hidden: 256 },
          { device },
        )
      : new ResnetReward(trunk, { device });
  initialise(judge.network, seed);
  if (init_from) {
    const source = join(init_from, `${fileName(judge)}.pth`);
    judge.network.loadState(readTorchState(source), { source });
  }
  return judge;
}

const fileName = (judge: TrainableJudge): string =>
  judge instanceof TaskResnetReward ? "taskemb_resnet_rm" : "resnet_rm";

/** Batch norms gathered the statistics of the weights in training; the averaged weights have their own. */
function settleStatistics(
  judge: TrainableJudge,
  { device }: RecordedFrames,
  { seed, steps }: JudgeSettings,
  draw: Teacher<JudgeLesson>,
): void {
  for (let i = 0; i < 40; i++) {
    noGrad(() =>
      scope(() => {
        const { pictures, tasks } = withStreams(seed, steps + i, device, draw);
        judge.logits(pictures, tasks);
      }),
    );
  }
}

function writeJudge(
  world: string,
  judge: TrainableJudge,
  { tasks }: RecordedFrames,
  { store, file }: JudgeSettings,
): void {
  const name = file ?? fileName(judge);
  writeTorchState(join(world, `${name}.pth`), stored(judge.state(), store));
  writeJsonFile(join(world, `${name}.json`), { type: judge.name, instructions: tasks });
}

/** Draws frames of success and failure in the wanted proportion. */
class Lessons {
  readonly #frames: RecordedFrames;
  readonly #seen: SeenThrough;
  readonly #settings: JudgeSettings;
  readonly #taskOfRow: Int32Array;
  readonly #rows: { readonly success: number[]; readonly failure: number[] };

  constructor(frames: RecordedFrames, seen: SeenThrough, settings: JudgeSettings) {
    this.#frames = frames;
    this.#seen = seen;
    this.#settings = settings;
    this.#taskOfRow = new Int32Array(frames.count);
    for (const { first, length, task } of frames.episodes)
      this.#taskOfRow.fill(task, first, first + length + 1);
    const flags = frames.success.cpu().toArray().map(Number);
    const rows = flags.map((_, row) => row);
    this.#rows = {
      // Success must have held for a frame: the first one is often a matter of millimetres.
      success: rows.filter((row) => flags[row] === 1 && flags[row - 1] === 1),
      failure: rows.filter((row) => flags[row] === 0),
    };
  }

  draw({ numbers, device }: StepRandom): JudgeLesson {
    const { batch_size: count, success_share, other_task_share, decoded_share } = this.#settings;
    const rows: number[] = [];
    const tasks: number[] = [];
    const success: number[] = [];
    for (let i = 0; i < count; i++) {
      const good = numbers() < success_share && this.#rows.success.length > 0;
      const from = good ? this.#rows.success : this.#rows.failure;
      const row = from[Math.floor(numbers() * from.length)]!;
      const task = this.#taskOfRow[row]!;
      const renamed = this.#frames.tasks.length > 1 && numbers() < other_task_share;
      const shown = renamed ? this.#otherTask(task, numbers) : task;
      const reached = renamed ? (this.#frames.goals[row]! >> BigInt(shown)) & 1n : good ? 1n : 0n;
      rows.push(row);
      tasks.push(shown);
      success.push(Number(reached));
    }
    const decoded = Math.round(count * decoded_share);
    return {
      pictures: this.#pictures(rows, decoded, device),
      tasks: tensor(BigInt64Array.from(tasks, BigInt), { device: this.#frames.device }),
      success: tensor(success, { device: this.#frames.device }),
    };
  }

  #otherTask(task: number, numbers: () => number): number {
    const other = Math.floor(numbers() * (this.#frames.tasks.length - 1));
    return other >= task ? other + 1 : other;
  }

  /** The first `decoded` rows through the autoencoder, the rest as they are. */
  #pictures(rows: readonly number[], decoded: number, generator: Generator): Tensor {
    const real = (from: readonly number[]): Tensor =>
      this.#frames.pick(tensor(BigInt64Array.from(from, BigInt), { device: this.#frames.device }));
    if (decoded === 0) return real(rows);
    const seen = this.#seen(rows.slice(0, decoded), this.#settings.latent_noise, generator);
    return decoded === rows.length ? seen : cat([seen, real(rows.slice(decoded))]);
  }
}
