/** Numbers, tensors or metrics that are equal up to rounding. */
import assert from "node:assert/strict";
import type { Metrics } from "#metrics";
import { Tensor } from "#tensor";

type Numbers = Tensor | number | readonly unknown[];

/** Tensors must have the same shape too. */
export function assertClose(actual: Numbers, expected: Numbers, tolerance = 1e-6, what = ""): void {
  if (actual instanceof Tensor && expected instanceof Tensor)
    assert.deepEqual(actual.shape, expected.shape, what);
  const [got, want] = [flat(actual), flat(expected)];
  assert.equal(got.length, want.length, `${what}: expected ${want.length} numbers, got ${got.length}`);
  for (const [i, value] of want.entries()) {
    const found = got[i] ?? Number.NaN;
    assert.ok(Math.abs(found - value) <= tolerance, `${what}[${i}]: expected ${value}, got ${found}`);
  }
}

/** Step by step and name by name, relative to numbers above 1. */
export function assertCloseMetrics(
  actual: readonly Metrics[],
  expected: readonly Metrics[],
  tolerance: number,
): void {
  assert.equal(actual.length, expected.length);
  for (const [i, metrics] of expected.entries()) {
    for (const [name, value] of Object.entries(metrics)) {
      const found = actual[i]?.[name] ?? Number.NaN;
      if (!Object.is(found, value))
        assertClose(found, value, tolerance * Math.max(1, Math.abs(value)), `step ${i}, ${name}`);
    }
  }
}

function flat(numbers: Numbers): number[] {
  if (numbers instanceof Tensor) return numbers.toArray().map(Number);
  return [numbers].flat(8).map(Number);
}
