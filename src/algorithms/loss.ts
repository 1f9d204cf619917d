/**
 * The loss of a micro-batch: policy, and where asked critic, entropy and divergence from a reference.
 *
 * All maths in float32. `totals` are counted once per minibatch over all ranks (`countLossTotals`), so that
 * the sum of all micro-batches' losses is the minibatch's loss, whatever the split.
 */
import type { Minibatch, PolicyEvaluation } from "#data";
import type { Tensor } from "#tensor";
import { aggregate, countFor, type Horizon, validElements } from "./aggregate.ts";
import { klDivergence } from "./kl.ts";
import { atLevel, shapeAtLevel } from "./log-prob-level.ts";
import { type LossParts, lossSums } from "./loss-metrics.ts";
import { alone, type Ranks } from "./ranks.ts";
import { ratioClip } from "./ratio-clip.ts";
import type { AlgorithmSettings } from "./settings.ts";
import { valueLoss } from "./value-loss.ts";

export interface LossContext {
  readonly settings: AlgorithmSettings;
  readonly horizon: Horizon;
  /** While the critic warms up, only its own loss counts. */
  readonly criticWarmup?: boolean;
}

export interface LossTotals {
  readonly policy: number;
  readonly value: number;
  readonly entropy: number;
}

export interface Loss {
  readonly loss: Tensor; // scalar with gradient
  readonly sums: Tensor; // float64 [K]: this micro-batch's part of the metrics (loss-metrics.ts)
}

/** The denominators of one minibatch (this rank's samples), put together over all ranks. */
export async function countLossTotals(
  batch: Minibatch,
  context: LossContext,
  ranks: Ranks = alone,
): Promise<LossTotals> {
  const { settings, horizon } = context;
  const how = settings.loss_agg_func;
  const policyShape = shapeAtLevel(batch.logProbs.shape, settings.logprob_type);
  const entropyShape = shapeAtLevel(batch.logProbs.shape, settings.entropy_type);
  const valueShape = [...(batch.returns?.shape ?? [0, 1]), 1];
  const [policy = 0, value = 0, entropy = 0] = await ranks.sum([
    countFor(policyShape, batch, how, horizon),
    countFor(valueShape, batch, how, horizon),
    validElements(entropyShape, batch.mask),
  ]);
  return { policy, value, entropy };
}

export function computeLoss(
  evaluation: PolicyEvaluation,
  batch: Minibatch,
  totals: LossTotals,
  context: LossContext,
): Loss {
  const { settings, horizon, criticWarmup = false } = context;
  const how = settings.loss_agg_func;
  const share = (elements: Tensor, total: number): Tensor => aggregate(elements, batch, how, horizon, total);
  const mask = batch.mask?.unsqueeze(2);
  const logProbs = atLevel(evaluation.logProbs.float(), settings.logprob_type);
  const clip = ratioClip(
    logProbs,
    atLevel(batch.logProbs.float(), settings.logprob_type),
    batch.advantages.unsqueeze(2),
    mask,
    settings,
  );
  const policy = criticWarmup ? logProbs.sum().mul(0) : share(clip.loss, totals.policy);
  const entropy = validEntropy(evaluation, batch, settings);
  const kl = referenceDivergence(logProbs, batch, settings);
  const klShare = kl && share(kl, totals.policy);
  const critic = criticLoss(evaluation, batch, settings);
  const value = critic && share(critic.loss.unsqueeze(2), totals.value);

  let loss = policy;
  if (entropy && settings.entropy_bonus > 0 && !criticWarmup)
    loss = loss.sub(entropy.sum.div(Math.max(totals.entropy, 1)).mul(settings.entropy_bonus));
  if (klShare && !criticWarmup) loss = loss.add(klShare.mul(settings.kl_beta));
  if (value) loss = loss.add(value);
  const parts: LossParts = {
    clip,
    policy,
    policyAbs: share(clip.loss.abs(), totals.policy),
    loss,
    ...(value && critic && evaluation.values && { value, critic, values: evaluation.values.float() }),
    ...(entropy && { entropy }),
    ...(klShare && { kl: klShare }),
  };
  return { loss, sums: lossSums(parts, batch) };
}

/** Masked before it is summed to its level: of a chunk whose episode ends in its midst, only the actions up to the end count. */
function validEntropy(
  { entropy }: PolicyEvaluation,
  { mask }: Minibatch,
  { entropy_type: level }: AlgorithmSettings,
): LossParts["entropy"] {
  if (!entropy) return undefined;
  const valid = mask ? entropy.float().mul(mask.unsqueeze(2)) : entropy.float();
  return { sum: valid.sum(), shape: shapeAtLevel(entropy.shape, level) };
}

function referenceDivergence(
  logProbs: Tensor,
  batch: Minibatch,
  settings: AlgorithmSettings,
): Tensor | undefined {
  if (settings.kl_beta === 0) return undefined;
  if (!batch.referenceLogProbs)
    throw new Error("internal: kl_beta is set, but no reference policy was asked");
  const reference = atLevel(batch.referenceLogProbs.float(), settings.logprob_type);
  return klDivergence(logProbs, reference, settings.kl_penalty);
}

function criticLoss({ values }: PolicyEvaluation, batch: Minibatch, settings: AlgorithmSettings) {
  if (settings.loss_type !== "actor_critic") return undefined;
  if (!values || !batch.values || !batch.returns)
    throw new Error("internal: a critic's loss needs values and returns");
  return valueLoss(values.float(), batch.values, batch.returns, settings.value_clip, settings.huber_delta);
}
