/**
 * Sine and cosine rounded correctly to double precision.
 *
 * JavaScript engines may be a last bit off what the C library (and so NumPy) gives, in about 3 of 100 cases, and a
 * replayed start must be the same bits. The C library itself is off the correct
 * rounding in about 1 of 500. Taylor series in 160-bit fixed point; a few microseconds, which placement can afford.
 */
const bits = 160n;
const one = 1n << bits;

export const exactSin = (angle: number): number => series(angle, toFixed(angle), 1n);
export const exactCos = (angle: number): number => series(angle, one, 0n);

/** Terms of alternating sign, each from the one before by x² / ((n + 1)(n + 2)). */
function series(angle: number, first: bigint, firstOrder: bigint): number {
  if (!(Math.abs(angle) < 64)) throw new Error(`internal: an angle of ${angle} rad`);
  const x = toFixed(angle);
  const square = (x * x) >> bits;
  let [sum, term, order] = [0n, first, firstOrder];
  while (term !== 0n && term !== -1n) {
    sum += term;
    term = -((term * square) >> bits) / ((order + 1n) * (order + 2n));
    order += 2n;
  }
  return Number(sum) * 2 ** -Number(bits); // Number() rounds a BigInt correctly; the power of two is exact
}

/** Exact: a double below 64 has no bit under 2^-160 unless it is smaller than 2^-107. */
function toFixed(value: number): bigint {
  const [whole, scale] = [value * 2 ** 53, bits - 53n];
  if (Number.isInteger(whole)) return BigInt(whole) << scale;
  return BigInt(Math.round(value * 2 ** 160));
}
