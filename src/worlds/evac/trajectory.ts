/**
 * Draws end-effector poses as EVAC was trained to see them: a disc colored by the gripper, and three axes.
 *
 * Both arms of the robot that EVAC was built for have the same pose in LIBERO, and the right one is drawn last and
 * covers the left one completely: only it is drawn here.
 */
import { type Device, type Tensor, tensor } from "#tensor";
import { type Camera, type Matrix, quaternionMatrix } from "./camera.ts";
import { reds } from "./colormap.ts";
import { type Color, drawDisc, drawThickLine, newCanvas } from "./raster.ts";

/** x y z, quaternion x y z w, gripper. */
export type Pose = readonly number[];

/** How large things are drawn, and which gripper readings the disc's colors run between. */
export interface Drawing {
  readonly disc_radius: number; // pixels
  readonly axis_thickness: number; // pixels
  readonly axis_length: number; // meters
  readonly gripper_range: readonly [number, number];
}

/** On 256 × 256 pictures of LIBERO. */
export const liberoDrawing: Drawing = {
  disc_radius: 50,
  axis_thickness: 8,
  axis_length: 0.1,
  gripper_range: [-1, 1],
};

const background = 50;
const axisColors: readonly Color[] = [
  [255, 0, 255],
  [255, 0, 0],
  [0, 255, 0],
];
const nearest = 1e-6; // closest depth that is divided by

export interface PixelPoint {
  readonly x: number;
  readonly y: number;
}

/** Where the gripper and the tips of its three axes appear, in pixels with fractions. */
export function projectPose(
  pose: Pose,
  camera: Camera,
  [height, width]: readonly [number, number],
  { axis_length: axisLength }: Pick<Drawing, "axis_length"> = liberoDrawing,
): PixelPoint[] {
  const [x, y, z, qx, qy, qz, qw] = pose as [number, number, number, number, number, number, number];
  const axes = quaternionMatrix([qx, qy, qz, qw]);
  const tips = [0, 1, 2].map((axis) => [x, y, z].map((value, i) => value + axisLength * axes[i]![axis]!));
  return [[x, y, z], ...tips].map((point) => {
    const seen = toCamera(point, camera);
    const depth = Math.max(-seen[2]!, nearest);
    const u = (camera.intrinsic[0]![0]! * seen[0]!) / depth + camera.intrinsic[0]![2]!;
    const v = (camera.intrinsic[1]![1]! * seen[1]!) / depth + camera.intrinsic[1]![2]!;
    return { x: width - 1 - u, y: height - 1 - v };
  });
}

/** World to camera: the inverse of a rotation is its transpose. */
function toCamera(point: readonly number[], { rotation, position }: Camera): number[] {
  const offset = point.map((value, i) => value - position[i]!);
  return [0, 1, 2].map((column) =>
    offset.reduce((sum, value, row) => sum + value * (rotation as Matrix)[row]![column]!, 0),
  );
}

/** RGB bytes of one pose, [height, width, 3], into the given ones if any; an empty picture where the gripper is outside. */
export function drawPose(
  pose: Pose,
  camera: Camera,
  size: readonly [number, number],
  drawing: Drawing = liberoDrawing,
  bytes?: Uint8Array,
): Uint8Array {
  const [height, width] = size;
  const canvas = newCanvas(width, height, background, bytes);
  const [base, ...tips] = projectPose(pose, camera, size, drawing).map(({ x, y }) => ({
    x: Math.trunc(x),
    y: Math.trunc(y),
  }));
  if (!base || base.x < 0 || base.x >= width || base.y < 0 || base.y >= height) return canvas.data;
  const [low, high] = drawing.gripper_range;
  const grip = (Math.min(Math.max(pose[7]!, low), high) - low) / (high - low);
  drawDisc(canvas, base, drawing.disc_radius, reds(grip));
  for (const [axis, tip] of tips.entries())
    drawThickLine(canvas, base, tip, drawing.axis_thickness, axisColors[axis]!);
  return canvas.data;
}

/** Pictures of several poses in [-1, 1], [N, 3, H, W]. */
export function poseMaps(
  poses: readonly Pose[],
  camera: Camera,
  size: readonly [number, number],
  drawing: Drawing = liberoDrawing,
  device: Device = "cpu",
): Tensor {
  const length = size[0] * size[1] * 3;
  const bytes = new Uint8Array(poses.length * length);
  for (const [i, pose] of poses.entries())
    drawPose(pose, camera, size, drawing, bytes.subarray(i * length, (i + 1) * length));
  const pictures = tensor(bytes, { shape: [poses.length, ...size, 3], device });
  return pictures.permute([0, 3, 1, 2]).double().div(255).float().sub(0.5).div(0.5);
}
