import assert from "node:assert/strict";
import { test } from "node:test";
import { dealMinibatches } from "./shuffle.ts";

const rows = (step: number, epoch: number, rank = 0) =>
  dealMinibatches(12, 4, { seed: 7, step, epoch, rank }).flatMap((batch) => batch.toArray().map(Number));

test("every sample is dealt exactly once per epoch", () => {
  assert.deepEqual(
    [...rows(0, 0)].sort((a, b) => a - b),
    Array.from({ length: 12 }, (_, i) => i),
  );
});

test("the order repeats for the same step and epoch and differs for any other", () => {
  assert.deepEqual(rows(3, 1), rows(3, 1));
  const orders = new Set([rows(3, 1), rows(3, 0), rows(4, 1), rows(3, 1, 1)].map(String));
  assert.equal(orders.size, 4);
});
