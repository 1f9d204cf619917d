/**
 * `env`: the part of an environment's settings that every environment shares.
 *
 * What belongs to one environment only (a suite's name, a world model's files) is checked by that
 * environment's own schema, found by `env_type`.
 */
import { z } from "zod";

const video = z.strictObject({
  save_video: z.boolean().default(false).describe("film episodes"),
  info_on_video: z.boolean().default(true).describe("write task, step, return and success into films"),
  video_base_dir: z.string().optional().describe("where films go"),
  fps: z.number().positive().nullish().describe("frames per second of films; absent: 20, which is real time"),
  extra_info_on_video: z
    .array(z.string())
    .nullish()
    .describe("no effect here: films show task, step, return and success"),
  layout: z
    .enum(["tiled", "episodes"])
    .default("tiled")
    .describe("all slots side by side, one file per rollout; or one file per episode"),
  every: z.int().positive().default(1).describe("with layout episodes: film one episode of this many"),
  failures_only: z.boolean().default(false).describe("with layout episodes: keep only those that failed"),
  save_replays: z.boolean().default(false).describe("write every episode as a file for `reverie replay`"),
});

const dataCollection = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe("no effect here: not available; reverie collect records demonstrations"),
  save_dir: z.string().nullish().describe("no effect here: not available"),
  export_format: z
    .enum(["pickle", "lerobot"])
    .default("pickle")
    .describe("no effect here: not available; see reverie export lerobot"),
  robot_type: z.string().default("panda").describe("no effect here: not available"),
  fps: z.number().positive().default(10).describe("no effect here: not available"),
  only_success: z.boolean().default(false).describe("no effect here: not available"),
  finalize_interval: z.int().positive().default(100).describe("no effect here: not available"),
});

/** The keys of `env.train` and `env.eval` that the frame owns. Loose: the family checks the others. */
export const environmentFrame = z.looseObject({
  env_type: z.string().describe("the family"),
  rollout_epoch: z.int().positive().default(1).describe("passes over all slots per training step"),
  total_num_envs: z.int().positive().nullable().describe("slots over all env workers"),
  group_size: z.int().positive().default(1).describe("neighboring slots that start from the same state"),
  max_steps_per_rollout_epoch: z.int().positive().describe("actions per slot and pass"),
  max_episode_steps: z.int().positive().describe("actions after which an episode is cut off"),
  auto_reset: z.boolean().default(false).describe("a finished slot starts a new episode at once"),
  ignore_terminations: z.boolean().default(false).describe("an episode ends only when its time is up"),
  use_rel_reward: z.boolean().default(true).describe("reward the change of the task's score, not the score"),
  reward_coef: z.number().default(1).describe("factor on rewards"),
  seed: z
    .int()
    .default(0)
    .describe("of the starts that are drawn and of the env's own noise; runner.seed shifts it"),
  use_fixed_reset_state_ids: z
    .boolean()
    .default(true)
    .describe(
      "all slots of a group share one start, drawn anew for each rollout epoch; false: every slot draws its own",
    ),
  use_ordered_reset_state_ids: z
    .boolean()
    .default(false)
    .describe("walk through one shuffled list of starts instead of drawing at random"),
  is_eval: z
    .boolean()
    .default(false)
    .describe("deal every stored start once; evaluations do, whatever env.eval says"),
  enable_offload: z.boolean().default(false).describe("leave the accelerator between phases"),
  enable_init_offload: z.boolean().default(true).describe("no effect here: enable_offload decides"),
  video_cfg: video.prefault({}),
  override_cfg: z
    .looseObject({})
    .nullish()
    .describe("refused unless empty: all env workers share one section"),
  override_cfgs: z
    .array(z.looseObject({}))
    .nullish()
    .describe("refused unless empty: all env workers share one section"),
  data_collection: dataCollection.nullish(),
});

export const environmentsFrame = z.strictObject({
  group_name: z.string().default("EnvGroup").describe("no effect here: workers are not called by name"),
  delay_sampler: z.looseObject({}).nullish().describe("no effect here: not available"),
  train: environmentFrame,
  eval: environmentFrame.optional(),
});
