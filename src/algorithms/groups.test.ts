import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { goldenRollout } from "../../test/support/golden-rollout.ts";
import { episodeMask } from "./episode-mask.ts";
import { deadGroups, episodeReturns, keptColumns } from "./groups.ts";

test("an episode's return stops at its first end", () => {
  const { rewards, dones } = goldenRollout();
  assertClose(episodeReturns(rewards, episodeMask(dones).mask), [5, 5, 0, 5]);
});

test("bounds of the reward filter are inclusive and drop whole groups", () => {
  const returns = tensor([0, 1, 5, 4, 5, 5, 0, 0]);
  assertClose(keptColumns(returns, 2, 0.5, 4.5), [1, 1, 1, 1, 0, 0, 0, 0]);
});

test("with coefficient 5 and groups of 8, one success is kept and none or all are dropped", () => {
  const group = (successes: number) => tensor(Array.from({ length: 8 }, (_, i) => (i < successes ? 5 : 0)));
  for (const [successes, kept] of [
    [0, 0],
    [1, 1],
    [7, 1],
    [8, 0],
  ] as const) {
    assertClose(keptColumns(group(successes), 8, 0.5, 4.5), Array(8).fill(kept));
  }
});

test("dead groups are those whose members all did equally well", () => {
  assert.deepEqual(deadGroups(tensor([5, 5, 0, 5, 0, 0, 1, 1]), 2), [0, 2, 3]);
});
