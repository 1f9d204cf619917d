import assert from "node:assert/strict";
import { test } from "node:test";
import { freshRewardMemory, rewardChunk } from "./rewards.ts";

const settings = {
  reward_coef: 5,
  use_rel_reward: true,
  success_reward_threshold: 0.9,
  success_hold_frames: 1,
};

test("a relative reward is the change of coefficient times opinion, across chunks too", () => {
  const first = rewardChunk([0, 1, 1, 0], freshRewardMemory, settings);
  assert.deepEqual(first.rewards, [0, 5, 0, -5]);
  assert.deepEqual(rewardChunk([1, 0], { previous: 5, held: 1 }, settings).rewards, [0, -5]);
});

test("an absolute reward is the opinion itself, without the coefficient", () => {
  const { rewards } = rewardChunk([0.25, 1], freshRewardMemory, { ...settings, use_rel_reward: false });
  assert.deepEqual(rewards, [0.25, 1]);
});

test("one frame at the threshold is a success, one below is not", () => {
  assert.equal(rewardChunk([0, 0.9, 0], freshRewardMemory, settings).success, true);
  assert.equal(rewardChunk([0, 0.89, 0], freshRewardMemory, settings).success, false);
});

test("success that must hold counts frames in a row over the end of a chunk", () => {
  const strict = { ...settings, success_hold_frames: 3 };
  const first = rewardChunk([1, 1, 0, 1, 1], freshRewardMemory, strict);
  assert.equal(first.success, false);
  assert.equal(rewardChunk([1, 0], first.memory, strict).success, true);
  assert.equal(rewardChunk([0, 1], first.memory, strict).success, false);
});
