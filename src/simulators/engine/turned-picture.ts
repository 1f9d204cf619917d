/**
 * Turns a picture by half, as LIBERO's policies are trained to see it.
 *
 * MuJoCo gives rows bottom first; reversing the order of all pixels makes them top first and mirrors them, so that a
 * camera which faces the robot shows the robot's left on the left.
 */
export function turnPicture(pixels: Uint8Array, out: Uint8Array = new Uint8Array(pixels.length)): Uint8Array {
  for (let from = 0, to = pixels.length - 3; to >= 0; from += 3, to -= 3) {
    out[to] = pixels[from]!;
    out[to + 1] = pixels[from + 1]!;
    out[to + 2] = pixels[from + 2]!;
  }
  return out;
}
