/** A whole training step of a tiny policy, beside the same step computed in NumPy (fixtures/training-step/make.py). */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Algorithm, algorithms, lossMetrics } from "#algorithms";
import { type Minibatch, minibatchSize, type PolicyEvaluation, type Rollout, sliceSamples } from "#data";
import { AdamW, clipGradNorm } from "#optimization";
import { aten, type Tensor, tensor, zeros } from "#tensor";
import { assertClose } from "./support/close.ts";

type Nested = number | readonly Nested[];
interface Step {
  readonly old_log_probs: Nested;
  readonly reference_log_probs: Nested;
  readonly values: Nested;
  readonly metrics: Record<string, number>;
  readonly weights: Record<string, Nested>;
}
interface Recorded {
  readonly weights: Record<string, Nested>;
  readonly observations: Nested;
  readonly tokens: Nested;
  readonly rewards: Nested;
  readonly dones: Nested;
  readonly grpo: Step;
  readonly ppo: Step;
}
const recorded: Recorded = JSON.parse(
  readFileSync(new URL("./fixtures/training-step/step.json", import.meta.url), "utf8"),
);
const [decisions, columns, actions, numbers, bins] = [3, 8, 2, 2, 5];

/** h = tanh(x W1 + b1); logits = h W2; value = h w3. */
class TinyPolicy {
  readonly weights: Map<string, Tensor>;
  constructor(from: Record<string, Nested>) {
    this.weights = new Map(
      Object.entries(from).map(([name, value]) => [name, tensor(value).requiresGrad_()]),
    );
  }
  evaluate({ forwardInputs }: Minibatch): PolicyEvaluation {
    const [w1, b1, w2, w3] = ["w1", "b1", "w2", "w3"].map((name) => this.weights.get(name) as Tensor) as [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ];
    const hidden = (forwardInputs.observations as Tensor).matmul(w1).add(b1).tanh();
    const logits = hidden.matmul(w2).reshape([-1, actions, numbers, bins]);
    const logp = logits.logSoftmax(-1);
    const chosen = logp.gather(3, (forwardInputs.tokens as Tensor).unsqueeze(3)).squeeze(3);
    return { logProbs: chosen, entropy: logp.exp().mul(logp).sum(3).neg(), values: hidden.matmul(w3) };
  }
}

function rolloutOf(step: Step, critic: boolean): Rollout {
  const dones = tensor(recorded.dones).bool();
  return {
    logProbs: tensor(step.old_log_probs),
    rewards: tensor(recorded.rewards),
    dones,
    terminated: dones,
    truncated: zeros([decisions + 1, columns, actions], { dtype: "bool" }),
    ...(critic && { values: tensor(step.values) }),
    versions: zeros([decisions, columns], { dtype: "int64" }),
    forwardInputs: { observations: tensor(recorded.observations), tokens: tensor(recorded.tokens).long() },
  };
}

/** Two minibatches of 12 samples, each in micro-batches; returns metrics and leaves the weights updated. */
async function train(policy: TinyPolicy, samples: Minibatch, algorithm: Algorithm, micro: number) {
  const horizon = { maxEpisodeSteps: decisions * actions, decisions };
  const { w3, ...rest } = Object.fromEntries(policy.weights);
  const optimizer = new AdamW([
    { parameters: new Map(Object.entries(rest)), lr: 1e-2 },
    { parameters: new Map([["w3", w3 as Tensor]]), lr: 3e-2 },
  ]);
  const half = minibatchSize(samples) / 2;
  let sums = zeros([0]);
  let norms = 0;
  for (const start of [0, half]) {
    const minibatch = sliceSamples(samples, start, half);
    const totals = await algorithm.countTotals(minibatch, horizon);
    optimizer.zeroGrad();
    for (let i = 0; i < half; i += micro) {
      const part = sliceSamples(minibatch, i, micro);
      const { loss, sums: partSums } = algorithm.loss(policy.evaluate(part), part, { totals, horizon });
      loss.backward();
      sums = sums.numel === 0 ? partSums : sums.add(partSums);
    }
    const gradients = [...policy.weights.values()].flatMap((weight) => weight.grad ?? []);
    norms += Number(clipGradNorm(gradients, 0.5).item());
    optimizer.step();
  }
  return { metrics: lossMetrics(sums.toArray().map(Number), 2), gradNorm: norms / 2 };
}

const shared = { logprob_type: "token_level", clip_ratio_low: 0.2, clip_ratio_high: 0.28, clip_ratio_c: 3 };
const cases = {
  grpo: {
    ...shared,
    ...{ adv_type: "grpo", loss_type: "actor", group_size: 4, reward_type: "action_level" },
    ...{
      filter_rewards: true,
      rewards_lower_bound: 0.5,
      rewards_upper_bound: 4.5,
      kl_beta: 0.1,
      kl_penalty: "k3",
    },
  },
  ppo: {
    ...shared,
    ...{ adv_type: "gae", loss_type: "actor_critic", group_size: 1, reward_type: "chunk_level" },
    ...{ gamma: 0.99, gae_lambda: 0.95, huber_delta: 1, entropy_bonus: 0.01 },
  },
};

for (const name of ["grpo", "ppo"] as const) {
  for (const micro of [12, 4, 1]) {
    test(`a step of ${name} with micro-batches of ${micro} ends at NumPy's weights and metrics`, async () => {
      const step = recorded[name];
      const algorithm = (await algorithms.get(cases[name].adv_type)).open(cases[name]);
      const given = await algorithm.advantages(rolloutOf(step, name === "ppo"), { unmasked: false });
      const samples = { ...given.samples, referenceLogProbs: tensor(step.reference_log_probs) };
      const policy = new TinyPolicy(recorded.weights);
      const { metrics, gradNorm } = await train(policy, samples, algorithm, micro);

      close(metrics["train/actor/policy_loss"], step.metrics.policy_loss, "policy_loss");
      close(metrics["train/loss"], step.metrics.loss, "loss");
      close(metrics["train/actor/approx_kl"], step.metrics.approx_kl, "approx_kl");
      close(metrics["train/actor/clip_fraction"], step.metrics.clip_fraction, "clip_fraction");
      if (name === "ppo") close(metrics["train/critic/value_loss"], step.metrics.value_loss, "value_loss");
      close(gradNorm, step.metrics.grad_norm, "grad_norm");
      for (const [key, expected] of Object.entries(step.weights)) {
        const off = Number(
          aten
            .sub(policy.weights.get(key) as Tensor, tensor(expected))
            .abs()
            .max()
            .item(),
        );
        assert.ok(off < 2e-5, `${key} is off by ${off}`);
      }
    });
  }
}

/** Relative to numbers above 1. */
function close(actual = Number.NaN, expected = Number.NaN, what: string): void {
  assertClose(actual, expected, 2e-6 * Math.max(1, Math.abs(expected)), what);
}
