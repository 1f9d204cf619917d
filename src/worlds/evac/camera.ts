/**
 * The camera that EVAC's LIBERO world looks through, and the rays of its pixels.
 *
 * The camera looks along its negative z axis, and the picture is turned by 180° as LIBERO's policies want it.
 */
import { type Tensor, tensor } from "#tensor";

/** Rows of a 3 × 3 or 4 × 4 matrix. */
export type Matrix = readonly (readonly number[])[];

export interface Camera {
  readonly intrinsic: Matrix; // of a 256 × 256 picture
  readonly rotation: Matrix; // camera to world
  readonly position: readonly [number, number, number];
}

/** Rotation matrix of a quaternion x y z w of any length. */
export function quaternionMatrix([x, y, z, w]: readonly [number, number, number, number]): Matrix {
  const s = 2 / (x * x + y * y + z * z + w * w);
  return [
    [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
    [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
    [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
  ];
}

const float32 = (matrix: Matrix): Matrix => matrix.map((row) => row.map(Math.fround));

export const liberoCamera: Camera = {
  intrinsic: [
    [64, 0, 64],
    [0, 64, 64],
    [0, 0, 1],
  ],
  rotation: float32(quaternionMatrix([-0.43318870663642883, 0, 0.901303231716156, 0])),
  position: [Math.fround(0.3), 0, Math.fround(0.6)],
};

/** A camera of the simulator: it looks along its negative z axis. */
export interface SceneCamera {
  readonly position: readonly [number, number, number];
  readonly orientation: readonly [number, number, number, number]; // quaternion w x y z
  readonly fovy: number; // degrees, of the picture's height
}

export function pinholeCamera(
  { position, orientation: [w, x, y, z], fovy }: SceneCamera,
  [height, width]: readonly [number, number],
): Camera {
  const focal = height / 2 / Math.tan((fovy * Math.PI) / 360);
  return {
    intrinsic: [
      [focal, 0, (width - 1) / 2],
      [0, focal, (height - 1) / 2],
      [0, 0, 1],
    ],
    rotation: quaternionMatrix([x, y, z, w]),
    position,
  };
}

/** Unit directions and origins of the rays through the latent pixels, each [3, h, w] in the world. */
export function cameraRays(
  { intrinsic, rotation, position }: Camera,
  [imageHeight, imageWidth]: readonly [number, number],
  downscale: number,
): { directions: Tensor; origins: Tensor } {
  const [height, width] = [imageHeight / downscale, imageWidth / downscale];
  const [fx, fy] = [intrinsic[0]![0]! / downscale, intrinsic[1]![1]! / downscale];
  const [cx, cy] = [intrinsic[0]![2]! / downscale, intrinsic[1]![2]! / downscale];
  const directions = new Float32Array(3 * height * width);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const local = [(column + 0.5 - cx) / fx, (row + 0.5 - cy) / fy, 1];
      const world = rotation.map((axis) => axis.reduce((sum, value, i) => sum + value * local[i]!, 0));
      const length = Math.hypot(...world);
      for (const [axis, value] of world.entries())
        directions[(axis * height + row) * width + column] = value / length;
    }
  }
  const origins = Float32Array.from(position.flatMap((value) => Array<number>(height * width).fill(value)));
  const shape = [3, height, width];
  return { directions: tensor(directions, { shape }), origins: tensor(origins, { shape }) };
}
