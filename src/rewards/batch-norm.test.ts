import assert from "node:assert/strict";
import { test } from "node:test";
import { BatchNorm2d } from "./batch-norm.ts";

test("every number of a fresh batch norm is set, so that a training's files are equal from run to run", () => {
  // Memory that was used before shows what nobody set.
  const tracked = Array.from({ length: 64 }, () => new BatchNorm2d(1, {}).num_batches_tracked.item());
  assert.deepEqual(new Set(tracked), new Set([0]));
});
