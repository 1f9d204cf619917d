import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rollout } from "#data";
import { liveTensors, tensor, zeros } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { goldenRollout } from "../../test/support/golden-rollout.ts";
import type { AlgorithmFamily } from "./algorithm.ts";
import { grpo } from "./grpo.ts";
import { ppo } from "./ppo.ts";

const open = (family: AlgorithmFamily, changes: Record<string, unknown> = {}) =>
  family.open({
    adv_type: "tested",
    loss_type: "actor",
    group_size: 4,
    reward_type: "action_level",
    logprob_type: "token_level",
    clip_ratio_low: 0.2,
    clip_ratio_high: 0.28,
    ...changes,
  });
const masked = { unmasked: false };

test("grpo gives an episode's advantage to each of its valid actions and to no other", async () => {
  const { samples, metrics } = await open(grpo).advantages(goldenRollout(), masked);
  const low = -1.499999;
  assertClose(samples.advantages, [
    [0.5, 0.5],
    [0.5, 0.5],
    [low, low],
    [0.5, 0.5],
    [0, 0],
    [0.5, 0],
    [low, low],
    [0.5, 0.5],
  ]);
  assert.deepEqual(samples.advantages.shape, [8, 2]);
  assertClose(samples.episodeActions ?? [], [2, 3, 4, 4, 2, 3, 4, 4]);
  assertClose(metrics["rollout/rewards"] ?? 0, 15 / 13);
  // Thirteen valid rewards: three of 5 and ten of 0.
  assertClose(metrics["rollout/reward_std"] ?? 0, Math.sqrt((75 - 225 / 13) / 12));
  assertClose(metrics["rollout/advantages_min"] ?? 0, low);
  assertClose(metrics["rollout/advantages_mean"] ?? 0, (0.5 * 9 + low * 4) / 13);
});

/** One decision of one action per episode, with these returns. */
const withReturns = (returns: readonly number[]): Rollout => {
  const flags = (rows: number) => zeros([rows, returns.length, 1], { dtype: "bool" });
  return {
    logProbs: zeros([1, returns.length, 1, 1]),
    rewards: tensor([...returns]).reshape([1, returns.length, 1]),
    dones: flags(2),
    terminated: flags(2),
    truncated: flags(2),
    versions: zeros([1, returns.length], { dtype: "int64" }),
    forwardInputs: {},
  };
};

test("in grpo a group is never compared with its neighbor", async () => {
  const s = Math.SQRT1_2;
  const { samples } = await open(grpo, { group_size: 2 }).advantages(withReturns([0, 1, 10, 11]), masked);
  assertClose(samples.advantages, [-s, s, -s, s], 1e-5);
});

test("in grpo without normalization an advantage is the distance to the group's mean", async () => {
  const plain = open(grpo, { normalize_advantages: false });
  const { samples } = await plain.advantages(withReturns([5, 5, 0, 5]), masked);
  assertClose(samples.advantages, [1.25, 1.25, -3.75, 1.25]);
});

test("a filtered group is masked out whole", async () => {
  const bounds = { filter_rewards: true, rewards_lower_bound: 0.5, rewards_upper_bound: 3 };
  const { samples, metrics } = await open(grpo, bounds).advantages(goldenRollout(), masked);
  assertClose(samples.mask ?? [], Array(16).fill(0)); // the group's mean return is 3.75
  assert.equal(metrics["rollout/kept_fraction"], 0);
});

test("with filter_dead_groups a group without a spread is masked, and token-mean does not count it", async () => {
  // Returns 5, 5 and 0, 5; the episodes have 2, 3, 4 and 4 valid actions of 3 numbers.
  const horizon = { maxEpisodeSteps: 4, decisions: 2 };
  for (const [filter, valid, kept] of [
    [false, 13, 1],
    [true, 8, 0.5],
  ] as const) {
    const algorithm = open(grpo, {
      group_size: 2,
      filter_dead_groups: filter,
      loss_agg_func: "token-mean",
      normalize_advantages: false,
    });
    const { samples, metrics } = await algorithm.advantages(goldenRollout(), masked);
    assert.equal((await algorithm.countTotals(samples, horizon)).policy, valid * 3);
    assert.equal(metrics["rollout/kept_fraction"], kept);
    assert.equal(metrics["rollout/dead_groups"], 0.5);
    assertClose(samples.advantages.select(1, 0), [0, 0, -2.5, 2.5, 0, 0, -2.5, 2.5]);
  }
});

test("filters of rewards and of dead groups go together", async () => {
  const filters = {
    group_size: 2,
    filter_rewards: true,
    rewards_lower_bound: 3,
    rewards_upper_bound: 9,
    filter_dead_groups: true,
  };
  // Means 5, 2.5, 4; the first has no spread, the second is below 3.
  const { samples } = await open(grpo, filters).advantages(withReturns([5, 5, 0, 5, 3, 5]), masked);
  assertClose(samples.mask ?? [], [0, 0, 0, 0, 1, 1]);
});

test("at chunk level a decision counts when any of its actions does", async () => {
  const level = { reward_type: "chunk_level" };
  const { samples } = await open(grpo, level).advantages(goldenRollout(), masked);
  assertClose(samples.mask ?? [], [1, 1, 1, 1, 0, 1, 1, 1]);
  assert.deepEqual(samples.advantages.shape, [8, 1]);
});

test("ppo at chunk level sums a chunk's rewards and stops at its end", async () => {
  const rollout = { ...goldenRollout(), values: tensor(Array(12).fill(0)).reshape([3, 4, 1]) };
  const plain = open(ppo, {
    loss_type: "actor_critic",
    reward_type: "chunk_level",
    normalize_advantages: false,
    gamma: 0.9,
    gae_lambda: 1,
  });
  const { samples, metrics } = await plain.advantages(rollout, masked);
  // Column 0: 5 and done; then -5+5 = 0. Columns 1 and 3: 0.9·5, 5. Column 2: nothing.
  assertClose(samples.returns ?? [], [5, 4.5, 0, 4.5, 0, 5, 0, 5]);
  assertClose(samples.advantages, samples.returns ?? []);
  assertClose(metrics["rollout/returns_max"] ?? 0, 5);
});

test("what a chunk earns after its episode's end counts for nothing, in ppo as in grpo", async () => {
  const rollout = {
    ...goldenRollout(),
    // One decision of two episodes: the first succeeds at action 3 and loses it at action 6.
    rewards: tensor([0, 0, 5, 0, 0, -5, 0, 0, ...Array(8).fill(0)]).reshape([1, 2, 8]),
    dones: tensor([...Array(16).fill(0), 0, 0, 1, 1, 1, 0, 0, 1, ...Array(7).fill(0), 1], {
      dtype: "bool",
    }).reshape([2, 2, 8]),
    logProbs: tensor(Array(16).fill(0)).reshape([1, 2, 8, 1]),
    versions: tensor(Array(2).fill(0)).reshape([1, 2, 1]),
    values: tensor(Array(4).fill(0)).reshape([2, 2, 1]),
    forwardInputs: {},
  };
  const chunk = { reward_type: "chunk_level", normalize_advantages: false };
  const critic = open(ppo, { ...chunk, loss_type: "actor_critic" });
  assertClose((await critic.advantages(rollout, masked)).samples.advantages, [5, 0]);
  const group = open(grpo, { ...chunk, group_size: 2 });
  assertClose((await group.advantages(rollout, masked)).samples.advantages, [2.5, -2.5]);
});

test("giving advantages leaves no tensor behind but its result", async () => {
  const rollout = goldenRollout();
  const before = liveTensors();
  const { samples } = await open(grpo).advantages(rollout, masked);
  const { forwardInputs, ...fields } = samples;
  assert.equal(liveTensors() - before, Object.keys(forwardInputs).length + Object.keys(fields).length);
});
