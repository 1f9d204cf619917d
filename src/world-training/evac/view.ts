/**
 * How an EVAC world sees the hand of a recording: through which camera, drawn how large, at which poses.
 *
 * Sizes are the published ones of 256-pixel pictures, in proportion. The gripper's colors run over the openings that
 * the recording has.
 */
import { suiteCamera } from "#recordings";
import { type Tensor, tensor } from "#tensor";
import { evacParts } from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { poseNumbers } from "../frames/robot-pose.ts";

export interface HandView {
  readonly camera: evacParts.Camera;
  readonly drawing: evacParts.Drawing;
}

const publishedSide = 256;
const stateSize = 8;

/** The hand's pose at every row: x y z, quaternion x y z w, gripper. */
export function recordedPoses({ states }: RecordedFrames): number[][] {
  const numbers = states.contiguous().data() as Float32Array;
  return Array.from({ length: states.shape[0]! }, (_, row) =>
    poseNumbers(Array.from(numbers.subarray(row * stateSize, (row + 1) * stateSize))),
  );
}

export function handView({ info, size }: RecordedFrames, poses: readonly (readonly number[])[]): HandView {
  const share = size[0] / publishedSide;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { 7: opening = 0 } of poses) [low, high] = [Math.min(low, opening), Math.max(high, opening)];
  return {
    camera: evacParts.pinholeCamera(info.camera ?? suiteCamera(info.suite), size),
    drawing: {
      disc_radius: Math.max(1, Math.round(evacParts.liberoDrawing.disc_radius * share)),
      axis_thickness: Math.max(1, Math.round(evacParts.liberoDrawing.axis_thickness * share)),
      axis_length: evacParts.liberoDrawing.axis_length,
      gripper_range: high > low ? [low, high] : [low, low + 1],
    },
  };
}

/** Drawings of these poses where the frames are, [N, 3, H, W] in [-1, 1]. */
export function drawHands(
  poses: readonly (readonly number[])[],
  { camera, drawing }: HandView,
  { size, device }: RecordedFrames,
): Tensor {
  return evacParts.poseMaps(poses, camera, size, drawing, device);
}

/** Rows of numbers as float32 [N, row]. */
export const rowsOf = (rows: readonly (readonly number[])[], { device }: RecordedFrames): Tensor =>
  tensor(Float32Array.from(rows.flat()), { shape: [rows.length, rows[0]?.length ?? 0], device });
