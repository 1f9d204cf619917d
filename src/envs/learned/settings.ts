/**
 * What a learned env is told, in the seeds' own keys, and what we add.
 *
 * The world's and the reward model's own settings are parsed by their families; these are the env's. `learnedKeys` are also what the
 * strict sections of a configuration share (`../sections`), so that each setting is described once.
 */
import { z } from "zod";

/** Keys beside those that every environment has; each world adds its own. */
export const learnedKeys = {
  wm_env_type: z.enum(["libero"]).default("libero").describe("whose actions and episodes the model imitates"),
  task_suite_name: z
    .string()
    .nullish()
    .describe("the suite that the world imagines; env.eval must play the same"),
  reset_gripper_open: z
    .boolean()
    .default(true)
    .describe("of Wan: the memory of a new episode holds an open gripper"),
  starts: z
    .string()
    .refine(
      (starts) => starts === "stored",
      "a learned world begins from the pictures in its folder; for fresh starts evaluate in the simulator it imitates: " +
        "env.eval with env_type libero and its task_suite_name",
    )
    .default("stored")
    .describe("the starts in the world's folder; fresh ones are drawn by simulators only"),
  specific_reset_id: z.int().min(0).nullish().describe("every episode begins from this start"),
  success_reward_threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .describe("probability above which a frame counts as success, where round_rewards is off"),
  success_hold_frames: z
    .int()
    .positive()
    .default(1)
    .describe("frames in a row in which the reward model must find success"),
  round_rewards: z
    .boolean()
    .default(true)
    .describe("reward success alone, as the reference does; off: the reward model's probability until then"),
  judge_threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe("probability above which a frame counts as success; higher makes false successes rarer"),
  judges: z
    .array(z.string())
    .nullish()
    .describe("files of more reward models of the same type: they vote with the first"),
  judge_vote: z
    .enum(["min", "mean", "median"])
    .default("min")
    .describe("of several reward models' probabilities; min: all must be convinced"),
  horizon_chunks: z
    .int()
    .positive()
    .nullish()
    .describe("imagined episodes are cut off after so many chunks, because a world drifts"),
  horizon_max_drift: z
    .number()
    .positive()
    .nullish()
    .describe("the same, read from the world's truth report: as long as its latent drift stays below this"),
  truth_report: z.string().nullish().describe("of `reverie world evaluate`; absent: truth.json in the world"),
  imagine_finished: z
    .boolean()
    .default(false)
    .describe("go on imagining episodes that are over, as the reference does; off, they leave the batch"),
  micro_batch_size: z.int().positive().nullish().describe("episodes imagined at once; null: all"),
  noise: z
    .enum(["streams", "fixed"])
    .default("streams")
    .describe("streams: a seeded stream per slot; fixed: seed 0 at every call, as the reference's Wan"),
  random_judge: z
    .boolean()
    .default(false)
    .describe("control run: success is drawn at random, at the rate at which the reward model finds it"),
  reference_quirks: z.boolean().default(false).describe("bring back the reference's flaws"),
} as const;

export const learnedEnvSettings = z.looseObject({
  seed: z.int().default(0),
  group_size: z.int().positive().default(1),
  auto_reset: z.boolean().default(false),
  ignore_terminations: z.boolean().default(false),
  use_rel_reward: z.boolean().default(true),
  use_fixed_reset_state_ids: z.boolean().default(true),
  max_episode_steps: z.int().positive().describe("actions after which an episode is cut off"),
  reward_coef: z.number().default(1),
  ...learnedKeys,
});
export type LearnedEnvSettings = z.infer<typeof learnedEnvSettings>;
