import assert from "node:assert/strict";
import { test } from "node:test";
import { factor, solve } from "./cholesky.ts";

test("a system solved by hand comes out", () => {
  const matrix = Float64Array.from([4, 2, 2, 3]);
  const b = Float64Array.from([10, 9]); // x = (1.5, 2)
  factor(matrix, 2);
  solve(matrix, 2, b);
  assert.ok(Math.abs(b[0]! - 1.5) < 1e-15 && Math.abs(b[1]! - 2) < 1e-15, `${b}`);
});

test("the solution of a random positive-definite system satisfies it", () => {
  const n = 7;
  const root = Float64Array.from({ length: n * n }, (_, i) => Math.sin(1 + 3 * i));
  const entry = (r: number, c: number) => {
    let sum = r === c ? 0.5 : 0;
    for (let k = 0; k < n; k++) sum += root[r * n + k]! * root[c * n + k]!;
    return sum;
  };
  const matrix = Float64Array.from({ length: n * n }, (_, i) => entry(Math.floor(i / n), i % n));
  const x = Float64Array.from({ length: n }, (_, i) => i - 3);
  factor(matrix, n);
  solve(matrix, n, x);
  for (let r = 0; r < n; r++) {
    let sum = 0;
    for (let c = 0; c < n; c++) sum += entry(r, c) * x[c]!;
    assert.ok(Math.abs(sum - (r - 3)) < 1e-12);
  }
});

test("a singular matrix gives a finite answer", () => {
  const matrix = Float64Array.from([1, 1, 1, 1]);
  const b = Float64Array.from([1, 2]);
  factor(matrix, 2);
  solve(matrix, 2, b);
  assert.ok(b.every(Number.isFinite));
});
