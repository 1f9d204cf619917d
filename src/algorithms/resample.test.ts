import assert from "node:assert/strict";
import { test } from "node:test";
import { disposeRollout, mapRollout, type Rollout } from "#data";
import { liveTensors, scope, tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { goldenRollout } from "../../test/support/golden-rollout.ts";
import { collectLiveGroups, deadGroupsOf, refillDeadGroups } from "./resample.ts";

/** The golden rollout has returns 5, 5, 0, 5: in pairs, the first group is dead. */
const withReturns = (returns: number[]): Rollout => {
  const base = goldenRollout();
  const rewards = tensor([[...returns.flatMap((value) => [value, 0])], Array(8).fill(0)]).reshape([2, 4, 2]);
  return { ...base, rewards, dones: base.dones.logicalAnd(base.dones.logicalNot()) };
};

test("a dead group takes the place of none, and a live one of a dead", () => {
  const rollout = refillDeadGroups(withReturns([5, 5, 0, 5]), withReturns([0, 0, 1, 2]), 2);
  assertClose(rollout.rewards.select(0, 0).sum(1), [1, 2, 0, 5]);
});

test("without a live group to fill with, the rollout stays as it was", () => {
  const rollout = refillDeadGroups(withReturns([5, 5, 0, 5]), withReturns([0, 0, 3, 3]), 2);
  assertClose(rollout.rewards.select(0, 0).sum(1), [5, 5, 0, 5]);
});

test("returns after the end of an episode do not bring a group back to life", () => {
  assert.deepEqual(deadGroupsOf(goldenRollout(), 2), [0]);
});

/** Plays the given returns, round by round; groups are pairs. Gives the batch's returns and how often it played. */
async function collected(rounds: number, plays: readonly number[][]) {
  const { rollout, collections } = await collectLiveGroups({ groupSize: 2, rounds }, async (round) =>
    withReturns(plays[round] as number[]),
  );
  return { returns: rollout.rewards.sum([0, 2]).toArray(), collections };
}

test("a batch without a dead group is not collected again", async () => {
  assert.deepEqual(await collected(3, [[0, 5, 5, 0]]), { returns: [0, 5, 5, 0], collections: 1 });
});

test("collecting goes on until the batch is full of groups with a spread, and then stops", async () => {
  const plays = [
    [5, 5, 0, 0],
    [0, 5, 1, 1], // fills the first gap
    [2, 2, 3, 3], // fills none
    [4, 4, 5, 0], // fills the second
    [9, 8, 9, 8], // is not played
  ];
  assert.deepEqual(await collected(9, plays), { returns: [0, 5, 5, 0], collections: 4 });
});

test("after resample_dead_groups more rounds the batch stays as it is", async () => {
  const plays = [
    [5, 5, 0, 0],
    [0, 5, 1, 1],
    [2, 2, 3, 3],
  ];
  assert.deepEqual(await collected(2, plays), { returns: [0, 5, 0, 0], collections: 3 });
  assert.deepEqual(await collected(0, plays), { returns: [5, 5, 0, 0], collections: 1 });
});

test("collecting again leaves no tensor behind but the batch", async () => {
  const before = liveTensors();
  const { rollout } = await collectLiveGroups({ groupSize: 2, rounds: 2 }, async () => {
    return scope(() => mapRollout(withReturns([5, 5, 0, 0]), (tensor) => tensor.clone()));
  });
  disposeRollout(rollout);
  assert.equal(liveTensors(), before);
});
