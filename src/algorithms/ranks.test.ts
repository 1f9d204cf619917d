import assert from "node:assert/strict";
import { test } from "node:test";
import { type Rollout, sliceColumns } from "#data";
import { type Tensor, tensor, zeros } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import type { Algorithm } from "./algorithm.ts";
import { grpo } from "./grpo.ts";
import { lossMetrics } from "./loss-metrics.ts";
import { ppo } from "./ppo.ts";
import type { Ranks } from "./ranks.ts";
import { rloo } from "./rloo.ts";

/**
 * Eight columns of three decisions with two actions of one number, from a simple recurrence: no two alike.
 */
function rollout(): Rollout {
  const numbers = (count: number, step: number) =>
    Array.from({ length: count }, (_, i) => Math.sin(1 + i * step));
  const dones = tensor(numbers(64, 2.3).map((x, i) => (i < 16 ? 0 : x > 0.8 ? 1 : 0)))
    .bool()
    .reshape([4, 8, 2]);
  return {
    logProbs: tensor(numbers(48, 0.7)).reshape([3, 8, 2, 1]),
    rewards: tensor(numbers(48, 1.1)).reshape([3, 8, 2]),
    dones,
    terminated: dones,
    truncated: zeros([4, 8, 2], { dtype: "bool" }),
    values: tensor(numbers(32, 1.7)).reshape([4, 8, 1]),
    versions: zeros([3, 8], { dtype: "int64" }),
    forwardInputs: {
      now: tensor(numbers(48, 0.71)).reshape([3, 8, 2, 1]),
      value: tensor(numbers(24, 1.9)).reshape([3, 8, 1]),
    },
  };
}

/** `count` ranks in one process: each waits until all have handed over their numbers. */
function ranksTogether(count: number): Ranks[] {
  const meet = (join: (a: number, b: number) => number) => {
    let waiting: { values: readonly number[]; done: (total: number[]) => void }[] = [];
    return (values: readonly number[]): Promise<readonly number[]> =>
      new Promise((done) => {
        waiting.push({ values, done });
        if (waiting.length < count) return;
        const all = waiting;
        waiting = [];
        const total = values.map((_, i) => all.map((each) => each.values[i] ?? 0).reduce(join));
        for (const each of all) each.done(total);
      });
  };
  const ranks: Ranks = { sum: meet((a, b) => a + b), max: meet((a, b) => Math.max(a, b)) };
  return Array.from({ length: count }, () => ranks);
}

async function step(algorithm: Algorithm, part: Rollout, ranks: Ranks) {
  const horizon = { maxEpisodeSteps: 6, decisions: 3 };
  const { samples, metrics } = await algorithm.advantages(part, { unmasked: false, ranks });
  const totals = await algorithm.countTotals(samples, horizon, ranks);
  const { now, value } = samples.forwardInputs as { now: Tensor; value: Tensor };
  const logProbs = now.clone().requiresGrad_();
  const { loss, sums } = algorithm.loss({ logProbs, values: value }, samples, { totals, horizon });
  loss.backward();
  const all = await ranks.sum([...sums.toArray().map(Number)]);
  return {
    loss: Number((await ranks.sum([Number(loss.item())]))[0]),
    metrics: { ...metrics, ...lossMetrics(all, 1) },
  };
}

const common = {
  logprob_type: "token_level",
  reward_type: "chunk_level",
  clip_ratio_low: 0.2,
  clip_ratio_high: 0.28,
};
const cases = [
  ["ppo", ppo, { adv_type: "gae", loss_type: "actor_critic", group_size: 1, gamma: 0.9, gae_lambda: 0.9 }],
  ["grpo", grpo, { adv_type: "grpo", loss_type: "actor", group_size: 2 }],
  ["rloo", rloo, { adv_type: "rloo", loss_type: "actor", group_size: 2 }],
] as const;

for (const [name, family, special] of cases) {
  for (const how of ["token-mean", "seq-mean-token-mean", "seq-mean-token-sum"]) {
    test(`${name} with ${how}: four ranks with two columns each say what one rank with all says`, async () => {
      const algorithm = family.open({ ...common, ...special, loss_agg_func: how });
      const [single] = ranksTogether(1);
      const whole = await step(algorithm, rollout(), single as Ranks);
      const parts = await Promise.all(
        ranksTogether(4).map((ranks, i) => step(algorithm, sliceColumns(rollout(), i * 2, 2), ranks)),
      );
      for (const part of parts) {
        assertClose(part.loss, whole.loss, 1e-6);
        assert.deepEqual(Object.keys(part.metrics), Object.keys(whole.metrics));
        assertClose(Object.values(part.metrics), Object.values(whole.metrics), 1e-6);
      }
    });
  }
}
