/**
 * What a world's folder says of itself in `evac.json`: the sizes of its networks, its camera, how its poses are drawn.
 *
 * Published worlds have no such file; theirs are the constants of LIBERO and of the robot that EVAC was built for. Worlds
 * that our own commands train write one beside their checkpoint, and it outranks the env block.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { readSizes } from "../weight-files.ts";
import type { Camera } from "./camera.ts";
import { evacFiles } from "./files.ts";
import type { PoseStatistics } from "./poses.ts";
import { type EvacSizes, evacSizes } from "./sizes.ts";
import type { Drawing } from "./trajectory.ts";

export interface EvacDescription {
  readonly params: EvacSizes;
  readonly n_previous: number; // frames of memory
  readonly sample_size: readonly [height: number, width: number];
  readonly camera: Camera;
  readonly drawing: Drawing;
  readonly statistics: PoseStatistics;
  readonly normalise_poses: boolean;
  readonly condition_fps: number;
  readonly domain_id: number;
}

const row = z.array(z.number()).length(3);
const matrix = z.array(row).length(3);
const perArm = z.array(z.number()).length(12);

const camera = z.strictObject({
  intrinsic: matrix,
  rotation: matrix.describe("camera to world"),
  position: z.tuple([z.number(), z.number(), z.number()]),
}) satisfies z.ZodType<Camera>;

const drawing = z.strictObject({
  disc_radius: z.int().positive(),
  axis_thickness: z.int().positive(),
  axis_length: z.number().positive(),
  gripper_range: z.tuple([z.number(), z.number()]),
}) satisfies z.ZodType<Drawing>;

const statistics = z.strictObject({
  mean: perArm,
  std: perArm,
  gripper: z.number().positive(),
}) satisfies z.ZodType<PoseStatistics>;

export const evacDescription = z.strictObject({
  params: evacSizes,
  n_previous: z.int().positive(),
  sample_size: z.tuple([z.int().positive(), z.int().positive()]),
  camera,
  drawing,
  statistics,
  normalise_poses: z.boolean(),
  condition_fps: z.number().positive(),
  domain_id: z.int().nonnegative(),
}) satisfies z.ZodType<EvacDescription>;

/** The description beside a checkpoint file; undefined where there is none. */
export function descriptionBeside(checkpoint: string): EvacDescription | undefined {
  const path = join(dirname(checkpoint), evacFiles.description);
  return existsSync(path) ? readSizes(evacDescription, path) : undefined;
}
