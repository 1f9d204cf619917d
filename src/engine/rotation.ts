/**
 * Rotations of control, rounded where robosuite rounds.
 *
 * Its quaternion-to-matrix conversion works in single precision. Without that a goal orientation is off by
 * 1e-8, which hard contact turns into visible differences within a second.
 */

/** Writes the rotation by the vector (x, y, z) (axis times angle) to `out` [9], row-major. */
export function rotationOfVector(x: number, y: number, z: number, out: Float64Array): void {
  const angle = Math.sqrt(x * x + y * y + z * z);
  const [sine, cosine] = [Math.sin(angle / 2), Math.cos(angle / 2)];
  matrixOfQuaternion(cosine, (x / angle) * sine, (y / angle) * sine, (z / angle) * sine, out);
}

/** Components, products and off-diagonal sums are single precision; the squared norm and the diagonal are double. */
export function matrixOfQuaternion(w0: number, x0: number, y0: number, z0: number, out: Float64Array): void {
  const single = Math.fround;
  const [w1, x1, y1, z1] = [single(w0), single(x0), single(y0), single(z0)];
  const norm = single(single(w1 * w1) + single(x1 * x1) + single(y1 * y1) + single(z1 * z1));
  const scale = Math.sqrt(2 / norm);
  const [w, x, y, z] = [single(w1 * scale), single(x1 * scale), single(y1 * scale), single(z1 * scale)];
  out[0] = 1 - single(y * y) - single(z * z);
  out[1] = single(single(x * y) - single(z * w));
  out[2] = single(single(x * z) + single(y * w));
  out[3] = single(single(x * y) + single(z * w));
  out[4] = 1 - single(x * x) - single(z * z);
  out[5] = single(single(y * z) - single(x * w));
  out[6] = single(single(x * z) - single(y * w));
  out[7] = single(single(y * z) + single(x * w));
  out[8] = 1 - single(x * x) - single(y * y);
}
