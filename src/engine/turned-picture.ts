/**
 * Turns a picture as the policies of a pack see it. MuJoCo gives rows bottom first.
 *
 * By half, for LIBERO's policies: reversing the order of all pixels makes rows top first and mirrors them, so that a camera
 * which faces the robot shows the robot's left on the left. A camera on the robot's own head needs its rows turned only.
 */
import { flipRows } from "#mujoco";
import type { Sights } from "./pack.ts";

export function turnFor({ turn }: Sights, pixels: Uint8Array, width: number, height: number): Uint8Array {
  return turn === "half" ? turnPicture(pixels) : flipRows(pixels, width, height);
}

export function turnPicture(pixels: Uint8Array, out: Uint8Array = new Uint8Array(pixels.length)): Uint8Array {
  for (let from = 0, to = pixels.length - 3; to >= 0; from += 3, to -= 3) {
    out[to] = pixels[from]!;
    out[to + 1] = pixels[from + 1]!;
    out[to + 2] = pixels[from + 2]!;
  }
  return out;
}
