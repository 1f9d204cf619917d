import assert from "node:assert/strict";
import { test } from "node:test";
import { dealMinibatches } from "./shuffle.ts";

const rows = (seed: number) => dealMinibatches(12, 4, seed).flatMap((batch) => batch.toArray().map(Number));

test("every sample is dealt exactly once", () => {
  assert.deepEqual(
    [...rows(0)].sort((a, b) => a - b),
    Array.from({ length: 12 }, (_, i) => i),
  );
});

test("the order repeats for the same seed and differs for another", () => {
  assert.deepEqual(rows(3), rows(3));
  assert.notDeepEqual(rows(3), rows(4));
});

test("samples that do not fill whole minibatches are an internal error", () => {
  assert.throws(() => dealMinibatches(10, 4, 0), /internal/);
});
