/** What a simulator env is told: the shared keys, `env_type: libero`'s own, and what we add. Checked keys come parsed. */
import { availableParallelism } from "node:os";
import { z } from "zod";
import { freshStartsPerTask, pictureSide, settleSteps, startsPattern } from "#simulators";

export const simulatorEnvSettings = z.looseObject({
  task_suite_name: z.string(),
  seed: z.int().default(0),
  group_size: z.int().positive().default(1),
  auto_reset: z.boolean().default(false),
  ignore_terminations: z.boolean().default(false),
  use_rel_reward: z.boolean().default(true),
  use_step_penalty: z.boolean().default(false),
  reward_coef: z.number().default(1),
  max_episode_steps: z.int().positive(),
  use_fixed_reset_state_ids: z.boolean().default(true),
  use_ordered_reset_state_ids: z.boolean().default(false),
  is_eval: z.boolean().default(false),
  starts: z.string().regex(startsPattern).default("stored"),
  starts_per_task: z.int().positive().max(freshStartsPerTask).nullish(),
  specific_reset_id: z.int().min(0).nullish(),
  task_id_filter: z.array(z.int().min(0)).nullish(),
  reset_gripper_open: z.boolean().default(true),
  settle_steps: settleSteps.nullish(),
  init_params: z
    .looseObject({
      camera_heights: pictureSide.default(256),
      camera_widths: pictureSide.default(256),
    })
    .prefault({}),
  wrist_camera: z.boolean().default(true).describe("draw the wrist's view too"),
  env_workers: z
    .int()
    .min(0)
    .default(availableParallelism())
    .describe("processes that simulate; 0: in the env's own process"),
  worker_timeout: z
    .number()
    .positive()
    .default(300)
    .describe("seconds until a process with a request before it that is silent is replaced"),
  worker_start_timeout: z
    .number()
    .positive()
    .default(300)
    .describe("seconds that a process may take to start"),
});
export type SimulatorEnvSettings = z.infer<typeof simulatorEnvSettings>;
