/** `env_type: behavior`: BEHAVIOR-1K's household tasks in OmniGibson, in a process of its own. */
import { z } from "zod";
import type { EnvFamily } from "../env-family.ts";

const block = z.looseObject({}); // OmniGibson's own settings, passed on as they are

export const behavior: EnvFamily = {
  offload: true,
  settings: z.strictObject({
    base_config_name: z.enum(["r1pro_behavior"]).describe("RLinf's robot and scene"),
    skip_intermediate_obs_in_chunk: z
      .boolean()
      .default(true)
      .describe("render only what the policy will read"),
    num_env_subprocess: z.int().positive().default(1).describe("OmniGibson processes"),
    use_eval_utils_cfg: z
      .boolean()
      .default(false)
      .describe("of RLinf's env: take OmniGibson's evaluation settings"),
    policy_wrapper: z.string().nullish().describe("of RLinf's env: how observations are prepared"),
    image_size: z.array(z.int().positive()).nullish().describe("height and width of the cameras' pictures"),
    max_steps: z.int().positive().nullish().describe("OmniGibson's own limit of an episode"),
    behavior: block.nullish().describe("OmniGibson's own settings, as they are"),
    omni_config: block.nullish().describe("OmniGibson's own settings, as they are"),
    omnigibson_cfg: block.nullish().describe("OmniGibson's own settings, as they are"),
    tasks: z
      .looseObject({
        activity_task_indices: z
          .union([z.string(), z.int()])
          .optional()
          .describe("which of BEHAVIOR's tasks"),
        task_description_path: z.string().nullish().describe("JSONL lines {task_index, task_name, task}"),
      })
      .nullish(),
  }),
  check: ({ tasks }) =>
    (tasks as { task_description_path?: unknown } | null | undefined)?.task_description_path == null
      ? []
      : [
          {
            path: "tasks.task_description_path",
            severity: "warning",
            message: "has no effect: BEHAVIOR cannot be played here, so nobody reads its task descriptions",
          },
        ],
  footprint: (settings) => ({
    parameters: 0,
    deviceBytes: 10e9 * Number(settings.num_env_subprocess ?? 1),
    note: "env: about 10 GB per OmniGibson process",
  }),
};
