import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { goldenRollout } from "../../test/support/golden-rollout.ts";
import { episodeMask } from "./episode-mask.ts";

test("the action that ends an episode counts and those after it do not", () => {
  const { mask, actions } = episodeMask(goldenRollout().dones);
  assert.deepEqual(mask.shape, [2, 4, 2]);
  assertClose(mask, [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1]);
  assertClose(actions, [2, 3, 4, 4]);
});

test("an episode that ends at its very last action is valid throughout", () => {
  const dones = tensor(
    [
      [0, 0],
      [0, 1],
    ],
    { dtype: "bool" },
  ).reshape([2, 1, 2]);
  assertClose(episodeMask(dones).mask, [1, 1]);
});
