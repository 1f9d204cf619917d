import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rollout } from "#data";
import { tensor } from "#tensor";
import { assertClose } from "./assert-close.ts";
import { goldenRollout } from "./golden-rollout.ts";
import { deadGroupsOf, refillDeadGroups } from "./resample.ts";

/** The golden rollout has returns 5, 5, 0, 5: in pairs, the first group is dead. */
const withReturns = (returns: number[]): Rollout => {
  const base = goldenRollout();
  const rewards = tensor([[...returns.flatMap((value) => [value, 0])], Array(8).fill(0)]).reshape([2, 4, 2]);
  return { ...base, rewards, dones: base.dones.logicalAnd(base.dones.logicalNot()) };
};

test("a dead group takes the place of none, and a live one of a dead", () => {
  const { rollout, filled, dead } = refillDeadGroups(withReturns([5, 5, 0, 5]), withReturns([0, 0, 1, 2]), 2);
  assertClose(rollout.rewards.select(0, 0).sum(1), [1, 2, 0, 5]);
  assert.deepEqual([filled, dead], [1, 0]);
});

test("without a live group to fill with, the rollout stays as it was", () => {
  const { rollout, filled, dead } = refillDeadGroups(withReturns([5, 5, 0, 5]), withReturns([0, 0, 3, 3]), 2);
  assertClose(rollout.rewards.select(0, 0).sum(1), [5, 5, 0, 5]);
  assert.deepEqual([filled, dead], [0, 1]);
});

test("returns after the end of an episode do not bring a group back to life", () => {
  assert.deepEqual(deadGroupsOf(goldenRollout(), 2), [0]);
});
