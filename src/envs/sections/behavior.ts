/** `env_type: behavior`: BEHAVIOR-1K's household tasks in OmniGibson, in a process of its own. */
import { z } from "zod";
import type { FamilySettings } from "#registry";

const block = z.looseObject({}); // OmniGibson's own settings, passed on as they are

export const behaviorSection: FamilySettings = {
  offload: true,
  settings: z.strictObject({
    base_config_name: z.enum(["r1pro_behavior"]),
    skip_intermediate_obs_in_chunk: z
      .boolean()
      .default(true)
      .describe("render only what the policy will read"),
    num_env_subprocess: z.int().positive().default(1),
    use_eval_utils_cfg: z.boolean().default(false),
    policy_wrapper: z.string().nullish(),
    image_size: z.array(z.int().positive()).nullish(),
    max_steps: z.int().positive().nullish(),
    behavior: block.nullish(),
    omni_config: block.nullish(),
    omnigibson_cfg: block.nullish(),
    tasks: z
      .looseObject({
        activity_task_indices: z.union([z.string(), z.int()]).optional(),
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
