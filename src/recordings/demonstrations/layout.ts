/**
 * How demonstrations lie on disk: a folder with `dataset.json` and numbered shards of safetensors.
 *
 * A shard holds whole episodes. An episode of T actions has T + 1 frames: what was seen before each action, and after the
 * last. Frame arrays have a row per frame; in action arrays the row of a last frame is zero and means nothing.
 *
 * | tensor           | type, shape         |                                                        |
 * | ---------------- | ------------------- | ------------------------------------------------------ |
 * | `main_images`    | uint8 [F, H, W, 3]  | turned as policies see them, top row first             |
 * | `wrist_images`   | uint8 [F, H, W, 3]  | only if `wrist` is set; [F, 2, H, W, 3] of two hands   |
 * | `states`         | float32 [F, 8]      | hand position, axis-angle, fingers; 16 of two hands    |
 * | `actions`        | float32 [F, 7]      | as executed, noise and all; gripper -1 open, +1 closed; 14 of two hands |
 * | `expert_actions` | float32 [F, 7]      | what the expert would do: the label to learn           |
 * | `success`        | uint8 [F]           | whether the goal holds at this frame                   |
 * | `goals`          | int64 [F]           | bit k: whether the goal of task k holds, where known   |
 * | `first_frames`   | int64 [E]           | row of each episode's first frame                      |
 * | `lengths`        | int64 [E]           | T of each episode                                      |
 * | `tasks`          | int64 [E]           | index into the dataset's `tasks`                       |
 * | `starts`         | int64 [E]           | stored start, or -1 for one drawn from the seed        |
 * | `seeds`          | int64 [E]           | reproduces the episode together with the settings      |
 * | `succeeded`      | uint8 [E]           |                                                        |
 */
import { join } from "node:path";
import { z } from "zod";
import { pictureSide } from "#simulators";

export const formatName = "reverie-demonstrations";

export const datasetSchema = z.strictObject({
  format: z.literal(formatName),
  version: z.literal(1),
  pack: z.string(),
  suite: z.string(),
  /** The sentences of the suite, by task id. */
  tasks: z.array(z.string()),
  width: pictureSide,
  height: pictureSide,
  wrist: z.boolean(),
  /** Of the robot; absent: one. */
  hands: z.int().min(1).max(2).optional(),
  fps: z.number().positive(),
  /** Through which the main pictures were seen, in the scene's frame; absent in older recordings. */
  camera: z
    .strictObject({
      position: z.tuple([z.number(), z.number(), z.number()]),
      orientation: z.tuple([z.number(), z.number(), z.number(), z.number()]).describe("quaternion w x y z"),
      fovy: z.number().positive().describe("degrees"),
    })
    .optional(),
  /** One per shard, in order: its episodes, frames, and how many episodes were tried for it. */
  shards: z.array(
    z.strictObject({
      episodes: z.int().nonnegative(),
      frames: z.int().nonnegative(),
      attempts: z.int().nonnegative(),
    }),
  ),
  /** How it was made: the collector's options. */
  settings: z.record(z.string(), z.unknown()),
});

export type DatasetInfo = z.infer<typeof datasetSchema>;

export const infoPath = (folder: string): string => join(folder, "dataset.json");
export const shardPath = (folder: string, index: number): string =>
  join(folder, `shard-${String(index).padStart(5, "0")}.safetensors`);
