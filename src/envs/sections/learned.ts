/** What the sections of all imagined environments share. */
import { z } from "zod";

/** Keys beside the frame's; each world adds its own. */
export const learnedKeys = {
  wm_env_type: z.enum(["libero"]).default("libero").describe("whose actions and episodes the model imitates"),
  task_suite_name: z.string().nullish(),
  reset_gripper_open: z.boolean().default(true),
  specific_reset_id: z.int().min(0).nullish(),
  success_reward_threshold: z.number().min(0).max(1).default(0.9),
  success_hold_frames: z
    .int()
    .positive()
    .default(1)
    .describe("frames in a row that must be judged successes"),
  round_rewards: z
    .boolean()
    .default(true)
    .describe("round the judge's probability to 0 or 1, as the reference does"),
  judge_threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe("probability above which rounding gives 1; higher makes false successes rarer"),
  imagine_finished: z
    .boolean()
    .default(false)
    .describe("go on imagining episodes that are over, as the reference does"),
  micro_batch_size: z.int().positive().nullish().describe("episodes imagined at once; null: all"),
  noise: z.enum(["streams", "fixed"]).default("streams"),
} as const;

export const picture = z.tuple([z.int().positive(), z.int().positive()]);

type Settings = Readonly<Record<string, unknown>>;

/** A world imagines as many frames at once as the policy has actions in a chunk. */
export function chunkFindings(
  path: string,
  chunk: unknown,
  run: Settings,
): { path: string; message: string }[] {
  const actor = run.actor as { model?: { num_action_chunks?: number } } | undefined;
  const actions = actor?.model?.num_action_chunks;
  if (chunk === undefined || actions === undefined || chunk === actions) return [];
  return [
    {
      path,
      message: `is ${chunk}, but actor.model.num_action_chunks is ${actions}: the world and the policy must agree`,
    },
  ];
}
