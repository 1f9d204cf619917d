import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { goldenRollout } from "../../test/support/golden-rollout.ts";
import { rloo } from "./rloo.ts";

const open = (changes: Record<string, unknown> = {}) =>
  rloo.open({
    adv_type: "rloo",
    loss_type: "actor",
    group_size: 4,
    reward_type: "action_level",
    logprob_type: "token_level",
    clip_ratio_low: 0.2,
    clip_ratio_high: 0.28,
    ...changes,
  });
const advantagesOf = (changes: Record<string, unknown> = {}) =>
  open(changes).advantages(goldenRollout(), { unmasked: false });
const horizon = { maxEpisodeSteps: 4, decisions: 2 };

test("an episode's advantage is its return less the mean of the other three", async () => {
  // Returns 5, 5, 0, 5: a success meets others of 10/3, the failure others of 5.
  const { samples } = await advantagesOf();
  const good = 5 / 3;
  assertClose(samples.advantages, [
    [good, good],
    [good, good],
    [-5, -5],
    [good, good],
    [0, 0], // episode 0 ended in its first chunk, episode 1 after the first action of its second
    [good, 0],
    [-5, -5],
    [good, good],
  ]);
});

test("in pairs the other member is the baseline, and pairs do not meet", async () => {
  const { samples, metrics } = await advantagesOf({ group_size: 2, reward_type: "chunk_level" });
  assertClose(samples.advantages, [0, 0, -5, 5, 0, 0, -5, 5]);
  assert.equal(metrics["rollout/dead_groups"], 0.5);
});

test("with ratios of 1 the gradient is REINFORCE's: minus the advantage over the number of episodes, per valid token", async () => {
  const { samples } = await advantagesOf();
  const logProbs = samples.logProbs.clone().requiresGrad_();
  const algorithm = open();
  const totals = await algorithm.countTotals(samples, horizon);
  const { loss } = algorithm.loss({ logProbs }, samples, { totals, horizon });
  loss.backward();
  const expected = samples.advantages.div(-4).unsqueeze(2).expand(logProbs.shape);
  assertClose(logProbs.grad as Tensor, expected.clone());
  // 3 numbers per action; valid actions of the four episodes: 2, 3, 4, 4
  assertClose(loss, (-3 / 4) * ((5 / 3) * (2 + 3 + 4) - 5 * 4), 1e-4);
});

test("a token that has become much likelier than when it was sampled learns nothing more from a good episode", async () => {
  const samples = {
    forwardInputs: {},
    logProbs: tensor([-1, -1]).reshape([2, 1, 1]),
    advantages: tensor([2, 2]).reshape([2, 1]),
  };
  const logProbs = tensor([-0.5, -0.9]).reshape([2, 1, 1]).requiresGrad_(); // ratios 1.65 and 1.105
  const algorithm = open();
  const one = { maxEpisodeSteps: 1, decisions: 1 };
  const totals = await algorithm.countTotals(samples, one);
  const { loss } = algorithm.loss({ logProbs }, samples, { totals, horizon: one });
  loss.backward();
  assertClose(loss, -(2 * 1.28 + 2 * Math.exp(0.1)) / 2);
  assertClose(logProbs.grad as Tensor, [0, (-2 * Math.exp(0.1)) / 2]);
});

test("what belongs to other algorithms is refused: rloo divides by no spread and has no critic", () => {
  for (const key of ["normalize_advantages", "gamma", "value_clip"])
    assert.throws(() => open({ [key]: 0.5 }), /[Uu]nrecognized key/);
});
