/** Rotations as vectors (axis times angle) and as row-major matrices [9], in double precision and without allocation. */

/** Writes the rotation by (x, y, z) to `out`. */
export function matrixOfVector(x: number, y: number, z: number, out: Float64Array): void {
  const angle = Math.sqrt(x * x + y * y + z * z);
  const scale = angle < 1e-9 ? 0.5 : Math.sin(angle / 2) / angle;
  matrixOf(Math.cos(angle / 2), x * scale, y * scale, z * scale, out);
}

/** Of a unit quaternion. */
function matrixOf(w: number, x: number, y: number, z: number, out: Float64Array): void {
  out[0] = 1 - 2 * (y * y + z * z);
  out[1] = 2 * (x * y - z * w);
  out[2] = 2 * (x * z + y * w);
  out[3] = 2 * (x * y + z * w);
  out[4] = 1 - 2 * (x * x + z * z);
  out[5] = 2 * (y * z - x * w);
  out[6] = 2 * (x * z - y * w);
  out[7] = 2 * (y * z + x * w);
  out[8] = 1 - 2 * (x * x + y * y);
}

/** Writes the vector of the rotation from `from` to `to`, that is of to·fromᵀ, to `out` [3]; its angle is at most π. */
export function vectorBetween(to: ArrayLike<number>, from: ArrayLike<number>, out: Float64Array): void {
  const entry = (r: number, c: number): number =>
    to[3 * r]! * from[3 * c]! + to[3 * r + 1]! * from[3 * c + 1]! + to[3 * r + 2]! * from[3 * c + 2]!;
  const [a, b, c] = [entry(0, 0), entry(1, 1), entry(2, 2)];
  const trace = a + b + c;
  // The largest component of the quaternion is found from the diagonal, the others from sums and differences.
  if (trace > Math.max(a, b, c)) {
    write(1 + trace, entry(2, 1) - entry(1, 2), entry(0, 2) - entry(2, 0), entry(1, 0) - entry(0, 1), out);
  } else if (a >= b && a >= c) {
    write(
      entry(2, 1) - entry(1, 2),
      1 + a - b - c,
      entry(0, 1) + entry(1, 0),
      entry(0, 2) + entry(2, 0),
      out,
    );
  } else if (b >= c) {
    write(
      entry(0, 2) - entry(2, 0),
      entry(0, 1) + entry(1, 0),
      1 + b - a - c,
      entry(1, 2) + entry(2, 1),
      out,
    );
  } else {
    write(
      entry(1, 0) - entry(0, 1),
      entry(0, 2) + entry(2, 0),
      entry(1, 2) + entry(2, 1),
      1 + c - a - b,
      out,
    );
  }
}

/** Of a quaternion of any length. */
function write(w: number, x: number, y: number, z: number, out: Float64Array): void {
  const sine = Math.sqrt(x * x + y * y + z * z);
  const sign = w < 0 ? -1 : 1;
  const scale = sine === 0 ? 0 : (sign * 2 * Math.atan2(sine, Math.abs(w))) / sine;
  out[0] = x * scale;
  out[1] = y * scale;
  out[2] = z * scale;
}

/** out = a·b; `out` may be neither. */
export function multiplyRotations(a: ArrayLike<number>, b: ArrayLike<number>, out: Float64Array): void {
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) {
      out[3 * r + c] = a[3 * r]! * b[c]! + a[3 * r + 1]! * b[3 + c]! + a[3 * r + 2]! * b[6 + c]!;
    }
  }
}
