import assert from "node:assert/strict";
import { test } from "node:test";
import { heldFrames, succeeds, successCriterion } from "./success.ts";

test("an episode succeeds when so many frames in a row are above the threshold", () => {
  const at = (holdFrames: number) => ({ threshold: 0.8, holdFrames });
  assert.equal(succeeds([0, 0.9, 0, 0.9], at(1)), true);
  assert.equal(succeeds([0, 0.9, 0, 0.9], at(2)), false);
  assert.equal(succeeds([0, 0.9, 0.85, 0], at(2)), true);
  assert.equal(succeeds([0, 0.8, 0.8, 0], at(1)), false);
});

test("frames in a row are counted over the end of a chunk", () => {
  assert.deepEqual(heldFrames([1, 0, 1, 1], { threshold: 0.5 }, 2), [3, 0, 1, 2]);
});

test("with rounding the reward model's threshold decides, without it the reward's", () => {
  const settings = { judge_threshold: 0.6, success_reward_threshold: 0.9, success_hold_frames: 2 };
  assert.deepEqual(successCriterion({ ...settings, round_rewards: true }), { threshold: 0.6, holdFrames: 2 });
  assert.deepEqual(successCriterion({ ...settings, round_rewards: false }), {
    threshold: 0.9,
    holdFrames: 2,
  });
});
