/** For tests: numbers, or tensors, that are equal up to rounding. */
import assert from "node:assert/strict";
import { Tensor } from "#tensor";

type Numbers = Tensor | number | readonly unknown[];

export function assertClose(actual: Numbers, expected: Numbers, tolerance = 1e-5): void {
  const [got, want] = [flat(actual), flat(expected)];
  assert.equal(got.length, want.length, `expected ${want.length} numbers, got ${got.length}`);
  for (const [i, value] of want.entries()) {
    const found = got[i] ?? Number.NaN;
    assert.ok(Math.abs(found - value) <= tolerance, `[${i}]: expected ${value}, got ${found}`);
  }
}

function flat(numbers: Numbers): number[] {
  if (numbers instanceof Tensor) return numbers.toArray().map(Number);
  return [numbers].flat(8).map(Number);
}
