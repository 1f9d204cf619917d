import assert from "node:assert/strict";
import { test } from "node:test";
import { freshRewardMemory, type RewardSettings, rewardChunk } from "./rewards.ts";

const settings: RewardSettings = {
  reward_coef: 5,
  use_rel_reward: true,
  round_rewards: true,
  judge_threshold: 0.5,
  success_reward_threshold: 0.9,
  success_hold_frames: 1,
  ignore_terminations: false,
  reference_quirks: false,
};
const rewardsOf = (opinions: readonly number[], changed: Partial<RewardSettings> = {}): readonly number[] =>
  rewardChunk(opinions, freshRewardMemory, { ...settings, ...changed }).rewards;

test("the coefficient is paid at the frame that makes the success, and a later flicker takes nothing back", () => {
  assert.deepEqual(rewardsOf([0, 1, 1, 1]), [0, 5, 0, 0]);
  assert.deepEqual(rewardsOf([0, 1, 1, 0]), [0, 5, 0, 0]);
  assert.deepEqual(rewardsOf([0, 0.51, 0.5, 0.9]), [0, 5, 0, 0]);
});

test("with two frames to hold, the second one earns the coefficient and a flicker earns nothing", () => {
  const hold = { success_hold_frames: 2 };
  assert.deepEqual(rewardsOf([0, 0, 1, 1, 0, 0, 0, 0], hold), [0, 0, 0, 5, 0, 0, 0, 0]);
  assert.deepEqual(rewardsOf([0, 1, 1, 1, 1, 1, 1, 0], hold), [0, 0, 5, 0, 0, 0, 0, 0]);
  assert.deepEqual(rewardsOf([0, 0, 0, 0, 0, 0, 0, 1], hold), [0, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(rewardsOf([1, 0, 1, 0, 1, 0, 1, 0], hold), [0, 0, 0, 0, 0, 0, 0, 0]);
});

test("for every sequence of verdicts and frames to hold, the return is the coefficient if and only if it succeeds", () => {
  for (let bits = 0; bits < 256; bits++) {
    const opinions = Array.from({ length: 8 }, (_, i) => (bits >> i) & 1);
    for (const success_hold_frames of [1, 2, 3]) {
      const first = rewardChunk(opinions.slice(0, 3), freshRewardMemory, {
        ...settings,
        success_hold_frames,
      });
      const second = rewardChunk(opinions.slice(3), first.memory, { ...settings, success_hold_frames });
      const earned = [...first.rewards, ...second.rewards].reduce((sum, reward) => sum + reward, 0);
      const success = opinions.join("").includes("1".repeat(success_hold_frames));
      assert.equal(earned, success ? 5 : 0, `${opinions.join("")} held ${success_hold_frames}`);
      assert.equal(second.memory.met, success);
    }
  }
});

test("where terminations are ignored, losing success costs the coefficient: the return is that of the last frame", () => {
  const ignore = { ignore_terminations: true, success_hold_frames: 2 };
  assert.deepEqual(rewardsOf([1, 1, 1, 0, 1, 1], ignore), [0, 5, 0, -5, 0, 5]);
});

test("an absolute reward is the score itself, without the coefficient", () => {
  assert.deepEqual(rewardsOf([0, 1, 1, 0], { use_rel_reward: false }), [0, 1, 1, 1]);
});

test("without rounding the reward follows the reward model's probability until success makes it whole", () => {
  const graded = { round_rewards: false, reward_coef: 8 };
  assert.deepEqual(rewardsOf([0.25, 0.75, 0.95, 0.5], graded), [2, 4, 2, 0]);
  assert.deepEqual(rewardsOf([0.25, 0.75, 0.5], graded), [2, 4, -2]);
});

test("the reference's quirks bring back the change of each frame's verdict, across chunks too", () => {
  const quirks = { ...settings, reference_quirks: true };
  const first = rewardChunk([0, 1, 1, 0, 1], freshRewardMemory, quirks);
  assert.deepEqual(first.rewards, [0, 5, 0, -5, 5]);
  assert.deepEqual(rewardChunk([1, 0], first.memory, quirks).rewards, [0, -5]);
});

test("success that must hold counts frames in a row over the end of a chunk", () => {
  const strict = { ...settings, success_hold_frames: 3 };
  const first = rewardChunk([1, 1, 0, 1, 1], freshRewardMemory, strict);
  assert.deepEqual(first.holds, [false, false, false, false, false]);
  assert.deepEqual(rewardChunk([1, 0], first.memory, strict).rewards, [5, 0]);
  assert.deepEqual(rewardChunk([0, 1], first.memory, strict).rewards, [0, 0]);
});
