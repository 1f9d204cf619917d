/** What can be asked of a collection of demonstrations. Written into the dataset, so that it can be made again. */
import { z } from "zod";

export const collectSettingsSchema = z.strictObject({
  suite: z.string(),
  size: z.int().min(16).max(1024).default(128).describe("width and height of the pictures"),
  wrist: z.boolean().default(false).describe("also keep the wrist camera"),
  starts: z
    .enum(["fresh", "stored"])
    .default("fresh")
    .describe("draw new starts, or use those of evaluations"),
  seed: z.int().min(0).max(4000).default(0),
  max_steps: z.int().positive().default(60).describe("control steps after which an episode has failed"),
  steps_after_success: z.int().min(0).default(0).describe("control steps recorded after the first success"),
  keep_failures: z.boolean().default(false).describe("also keep episodes that did not succeed"),
  noise: z.number().min(0).max(2).default(0.15).describe("size of the noise on executed translations"),
  noise_persistence: z
    .number()
    .min(0)
    .max(0.99)
    .default(0.7)
    .describe("how much of it lasts to the next step"),
  gripper_flips: z.number().min(0).max(1).default(0).describe("probability of a turned gripper command"),
  grasp_error: z.number().min(0).max(0.2).default(0).describe("meters by which grasps miss, on average"),
  place_error: z.number().min(0).max(0.2).default(0).describe("meters by which drops miss, on average"),
  wrong_object: z.number().min(0).max(1).default(0).describe("probability of taking another object"),
});

export type CollectSettings = z.infer<typeof collectSettingsSchema>;
