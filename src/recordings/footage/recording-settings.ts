/** How episodes for a world model are recorded. Written into the dataset, so that it can be made again. */
import { z } from "zod";

const share = z.number().min(0).max(1);

export const recordingSettings = z.strictObject({
  suite: z.string(),
  size: z.int().min(16).max(1024).default(64).describe("width and height of the pictures"),
  steps: z.int().positive().default(40).describe("control steps of an episode, at most"),
  steps_after_success: z
    .int()
    .min(0)
    .default(8)
    .describe("control steps recorded after any of the suite's goals was reached"),
  starts: z
    .enum(["fresh", "stored"])
    .default("fresh")
    .describe("draw new starts, or use those of evaluations"),
  seed: z.int().min(0).max(4000).default(0),
  purpose: z
    .enum(["recordings", "exams"])
    .default("recordings")
    .describe("scenes to learn from, or scenes of their own to measure a world on"),

  clean_share: share.default(0.2).describe("of scripted episodes without mistakes"),
  wrong_share: share
    .default(0.25)
    .describe("of scripted episodes that take another object; the rest are near misses"),
  clean_noise: z.number().min(0).default(0.15).describe("noise on executed translations"),
  near_miss_noise: z.number().min(0).default(0.5).describe("largest such noise in near misses"),
  grasp_error: z
    .number()
    .min(0)
    .default(0.016)
    .describe("meters by which near misses miss the grasp, on average"),
  place_error: z.number().min(0).default(0.03).describe("meters by which they miss the place"),
  gripper_flips: share.default(0.03).describe("probability per step of a turned gripper command"),
});
export type RecordingSettings = z.infer<typeof recordingSettings>;
