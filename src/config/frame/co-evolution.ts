/**
 * `runner.co_evolution` and `runner.stop_when_gap_grows`: what keeps a run inside a world model honest.
 *
 * A policy in training finds what its world gets wrong. So now and then it plays in the simulator of `env.eval`, the world learns from
 * those episodes, and is kept only if it did not become less true.
 */
import { z } from "zod";

/** How a world goes on learning; also the settings of `reverie world refresh`. */
export const worldRefreshFrame = z.strictObject({
  steps: z.int().positive().default(1500).describe("of the denoiser"),
  minutes: z
    .number()
    .positive()
    .nullish()
    .describe("after which the denoiser's steps end, whatever their number"),
  judge_steps: z.int().positive().default(500).describe("of the reward model"),
  judge_minutes: z
    .number()
    .positive()
    .nullish()
    .describe("after which the reward model's steps end, whatever their number"),
  batch_size: z.int().positive().default(256).describe("lessons per step, of denoiser and reward model"),
  lr: z.number().positive().default(1e-4).describe("learning rate of the denoiser"),
  judge_lr: z.number().positive().default(2e-4).describe("learning rate of the reward model"),
  precision: z.enum(["fp32", "bf16"]).default("fp32").describe("of the denoiser while it learns"),
  cuda_graph: z.boolean().default(true).describe("capture a training step once and replay it, on a GPU"),
  tolerance: z
    .number()
    .min(0)
    .default(0.02)
    .describe(
      "by which P(dream success | real failure) may rise, or agreement fall, before a refresh is rolled back",
    ),
});

export const coEvolutionFrame = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe("let the world of env.train learn from the policy's own episodes in env.eval"),
  interval: z.int().positive().default(12).describe("training steps between rounds"),
  episodes: z
    .int()
    .min(0)
    .default(1000)
    .describe("of the current policy, to learn from, each round; 0: the world is only measured"),
  exam_episodes: z.int().positive().default(256).describe("of the current policy, to measure on, each round"),
  acted_in: z
    .enum(["simulator", "dream"])
    .default("simulator")
    .describe(
      "where the policy sees what it acts on in the episodes that are learned from; dream: in the world, and the simulator plays the same actions",
    ),
  temperatures: z
    .array(z.number().min(0))
    .min(1)
    .default([1, 1, 1.3])
    .describe(
      "dealt to the episodes that are learned from; the exam is played at the temperature of training",
    ),
  data: z.array(z.string()).default([]).describe("folders of the recordings that the world was made from"),
  old_episodes: z
    .int()
    .positive()
    .nullish()
    .describe("at most so many of them are learned again each round; null: all"),
  workers: z.int().positive().optional().describe("processes that play; absent: one per core"),
  device: z.string().default("cpu").describe("of the policy in these processes"),
  refresh: worldRefreshFrame.prefault({}),
});

export const gapStopFrame = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe("end the run when its policy learns the mistakes of its world"),
  threshold: z
    .number()
    .positive()
    .default(0.1)
    .describe("by how much eval/closed_loop_false_positive must exceed its smallest value so far"),
  patience: z.int().positive().default(3).describe("evaluations in a row that must find it so"),
  episodes: z
    .int()
    .positive()
    .default(128)
    .describe("acted in the dream and played again by the simulator at every evaluation, to measure it"),
});
