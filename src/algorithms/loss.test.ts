import assert from "node:assert/strict";
import { test } from "node:test";
import type { Minibatch } from "#data";
import { sliceSamples } from "#data";
import { type Tensor, tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import type { Algorithm } from "./algorithm.ts";
import { grpo } from "./grpo.ts";
import { lossMetrics } from "./loss-metrics.ts";
import { ppo } from "./ppo.ts";

/** The golden vectors' two samples of two actions with two numbers each. */
const logProbs = tensor([
  [
    [-1, -2],
    [-0.5, -0.7],
  ],
  [
    [-1.2, -1],
    [-2, -3],
  ],
]);
const batch: Minibatch = {
  forwardInputs: {},
  logProbs: tensor([
    [
      [-1.3, -2],
      [-1, -0.2],
    ],
    [
      [-1, -1],
      [-1, -1],
    ],
  ]),
  advantages: tensor([
    [1, 1],
    [-1, -1],
  ]),
  mask: tensor(
    [
      [1, 1],
      [1, 0],
    ],
    { dtype: "bool" },
  ),
  episodeActions: tensor([[4], [1]]),
};

const horizon = { maxEpisodeSteps: 4, decisions: 2 };

function open(changes: Record<string, unknown> = {}, family = grpo): Algorithm {
  return family.open({
    adv_type: "tested",
    loss_type: "actor",
    group_size: 2,
    reward_type: "action_level",
    logprob_type: "token_level",
    clip_ratio_low: 0.2,
    clip_ratio_high: 0.28,
    ...changes,
  });
}

async function run(samples: Minibatch, evaluated: Tensor, algorithm: Algorithm, extra = {}) {
  const totals = await algorithm.countTotals(samples, horizon);
  return algorithm.loss({ logProbs: evaluated, ...extra }, samples, { totals, horizon });
}

test("the policy loss and its metrics equal the golden vector, per element", async () => {
  const { loss, sums } = await run(batch, logProbs, open());
  assertClose(loss, 0.388549, 1e-5);
  const metrics = lossMetrics(sums.toArray().map(Number), 1);
  assertClose(metrics["train/actor/clip_fraction"] ?? 0, 1 / 3);
  assertClose(metrics["train/actor/approx_kl"] ?? 0, -0.016667);
  assertClose(metrics["train/actor/ratio"] ?? 0, 1.07064);
  assertClose(metrics["train/actor/clipped_ratio"] ?? 0, 1.029788);
  assertClose(metrics["train/actor/policy_loss"] ?? 0, 0.388549, 1e-5);
});

test("micro-batches add up to the minibatch, in loss, gradient and metrics", async () => {
  const whole = logProbs.clone().requiresGrad_();
  const once = await run(batch, whole, open());
  once.loss.backward();
  const totals = await open().countTotals(batch, horizon);
  const parts = logProbs.clone().requiresGrad_();
  const halves = [0, 1].map((i) =>
    open().loss({ logProbs: parts.narrow(0, i, 1) }, sliceSamples(batch, i, 1), { totals, horizon }),
  );
  for (const half of halves) half.loss.backward();
  assertClose(
    halves.reduce((sum, { loss }) => sum + Number(loss.item()), 0),
    Number(once.loss.item()),
    1e-6,
  );
  assertClose(parts.grad as Tensor, whole.grad as Tensor, 1e-6);
  const [first, second] = halves.map(({ sums }) => sums);
  assertClose((first as Tensor).add(second as Tensor), once.sums, 1e-6);
});

test("token-mean divides by the valid elements, and nothing else", async () => {
  const { loss } = await run(batch, logProbs, open({ loss_agg_func: "token-mean" }));
  const elements = [-1.28, -1, -1.28, -Math.exp(-0.5), Math.exp(-0.2), 1]; // the last two rows: one masked action
  assertClose(loss, elements.reduce((a, b) => a + b) / 6);
});

test("seq-mean-token-sum divides by the trajectories that the samples make up", async () => {
  const { loss } = await run(batch, logProbs, open({ loss_agg_func: "seq-mean-token-sum" }));
  const elements = [-1.28, -1, -1.28, -Math.exp(-0.5), Math.exp(-0.2), 1];
  assertClose(loss, elements.reduce((a, b) => a + b) / (2 / 2));
});

test("action-level ratios multiply the numbers of an action, chunk-level those of a chunk", async () => {
  const small = { ...batch, mask: undefined, episodeActions: undefined };
  const action = await run(small, logProbs, open({ logprob_type: "action_level" }));
  // ratios e^0.3, e^0 and e^-0.2, e^-3 (clipped to 0.8 for the bad sample)
  assertClose(action.loss, (-1.28 - 1 + Math.exp(-0.2) + 0.8) / 4);
  const chunk = await run(
    { ...small, advantages: tensor([[1], [-1]]) },
    logProbs,
    open({ logprob_type: "chunk_level", reward_type: "chunk_level" }),
  );
  assertClose(chunk.loss, (-1.28 + 0.8) / 2);
});

test("the entropy bonus lowers the loss by the mean entropy of valid elements", async () => {
  const entropy = tensor([
    [
      [1, 2],
      [3, 4],
    ],
    [
      [5, 6],
      [70, 80],
    ],
  ]);
  const settings = open({ entropy_bonus: 0.1 });
  const { loss, sums } = await run(batch, logProbs, settings, { entropy });
  assertClose(loss, 0.388549 - 0.1 * (21 / 6));
  assertClose(lossMetrics(sums.toArray().map(Number), 1)["train/entropy_loss"] ?? 0, 21 / 6);
});

test("without a bonus entropy is measured all the same, and a policy that has none reports none", async () => {
  const entropy = tensor(Array(8).fill(1)).reshape([2, 2, 2]);
  const metricsOf = async (extra: object) => {
    const { loss, sums } = await run(batch, logProbs, open(), extra);
    assertClose(loss, 0.388549, 1e-5);
    return lossMetrics(sums.toArray().map(Number), 1);
  };
  assertClose((await metricsOf({ entropy }))["train/entropy_loss"] ?? 0, 1);
  assert.equal("train/entropy_loss" in (await metricsOf({})), false);
});

test("entropy of one nat per number is 56 per chunk of 8 actions, 7 per action, whatever the mask leaves of it", async () => {
  const numbers = (shape: number[], value: number) =>
    tensor(Array(shape.reduce((a, b) => a * b)).fill(value)).reshape(shape);
  for (const valid of [8, 3]) {
    const samples: Minibatch = {
      forwardInputs: {},
      logProbs: numbers([2, 8, 7], -1),
      advantages: numbers([2, 8], 0),
      mask: tensor([...Array(8).fill(1), ...Array(valid).fill(1), ...Array(8 - valid).fill(0)], {
        dtype: "bool",
      }).reshape([2, 8]),
      episodeActions: tensor([[16], [16]]),
    };
    for (const [entropy_type, expected] of [
      ["chunk_level", 56],
      ["action_level", 7],
      ["token_level", 1],
    ] as const) {
      const settings = open({ entropy_type, entropy_bonus: 1 });
      const { loss, sums } = await run(samples, numbers([2, 8, 7], -1), settings, {
        entropy: numbers([2, 8, 7], 1),
      });
      assertClose(loss, -expected, 1e-4);
      assertClose(lossMetrics(sums.toArray().map(Number), 1)["train/entropy_loss"] ?? 0, expected, 1e-4);
    }
  }
});

test("the divergence from a reference policy enters with kl_beta, aggregated like the loss", async () => {
  const samples = { ...batch, referenceLogProbs: logProbs.sub(0.5) };
  const { loss } = await run(samples, logProbs, open({ kl_beta: 2, kl_penalty: "kl" }));
  // k1 is 0.5 everywhere; weights max/L_j: 4 elements × 1 and 2 elements × 4, over 8
  assertClose(loss, 0.388549 + 2 * ((4 * 0.5 + 2 * 4 * 0.5) / 8));
});

test("a missing reference policy is an internal error, not a silent zero", async () => {
  await assert.rejects(run(batch, logProbs, open({ kl_beta: 1 })), /no reference policy/);
});

test("while the critic warms up only its own loss counts, and the policy gets no gradient", async () => {
  const samples = {
    ...batch,
    mask: undefined,
    episodeActions: undefined,
    values: tensor([[0.1], [1.0]]),
    returns: tensor([[1], [0]]),
    advantages: tensor([[1], [-1]]),
  };
  const algorithm = open({ loss_type: "actor_critic", reward_type: "chunk_level", entropy_bonus: 1 }, ppo);
  const now = logProbs.clone().requiresGrad_();
  const values = tensor([[0.5], [1.1]]).requiresGrad_();
  const totals = await algorithm.countTotals(samples, horizon);
  const part = { totals, horizon, criticWarmup: true };
  const { loss, sums } = algorithm.loss({ logProbs: now, values }, samples, part);
  loss.backward();
  // 0.5·0.7² (held near its old value) and 0.5·1.1²
  assertClose(loss, (0.245 + 0.605) / 2);
  assertClose(now.grad as Tensor, Array(8).fill(0));
  const metrics = lossMetrics(sums.toArray().map(Number), 1);
  assertClose(metrics["train/critic/value_clip_ratio"] ?? 0, 0.5);
  // returns 1, 0: variance 0.5; errors 0.5, -1.1: variance 1.28
  assertClose(metrics["train/critic/explained_variance"] ?? 0, 1 - 1.28 / 0.5);
});

test("when everything is masked the loss is zero and its gradient too", async () => {
  const now = logProbs.clone().requiresGrad_();
  const samples = {
    ...batch,
    mask: tensor(
      [
        [0, 0],
        [0, 0],
      ],
      { dtype: "bool" },
    ),
  };
  const { loss } = await run(samples, now, open({ loss_agg_func: "token-mean" }));
  loss.backward();
  assertClose(loss, 0);
  assertClose(now.grad as Tensor, Array(8).fill(0));
});
