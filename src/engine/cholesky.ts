/**
 * Cholesky factors of the small positive-definite matrices of arm control, in place and without allocation.
 *
 * A matrix is row-major in a Float64Array; only its lower triangle is read and written.
 */

/** Overwrites the lower triangle of `a` [n, n] with L, where L·Lᵀ is `a`. */
export function factor(a: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = a[i * n + j]!;
      for (let k = 0; k < j; k++) sum -= a[i * n + k]! * a[j * n + k]!;
      // A singular matrix, as in an arm stretched out, gives a large but finite answer instead of NaN.
      a[i * n + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / a[j * n + j]!;
    }
  }
}

/** Overwrites `b` [n] with L⁻¹·b. */
export function solveLower(l: Float64Array, n: number, b: Float64Array, start = 0): void {
  for (let i = 0; i < n; i++) {
    let sum = b[start + i]!;
    for (let k = 0; k < i; k++) sum -= l[i * n + k]! * b[start + k]!;
    b[start + i] = sum / l[i * n + i]!;
  }
}

/** Overwrites `b` [n] with (L·Lᵀ)⁻¹·b. */
export function solve(l: Float64Array, n: number, b: Float64Array): void {
  solveLower(l, n, b);
  for (let i = n - 1; i >= 0; i--) {
    let sum = b[i]!;
    for (let k = i + 1; k < n; k++) sum -= l[k * n + i]! * b[k]!;
    b[i] = sum / l[i * n + i]!;
  }
}
