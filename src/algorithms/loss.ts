/**
 * The terms that losses are made of: the clipped ratio, the entropy bonus, the divergence from a reference, the critic's error.
 *
 * A loss is a sum of terms, each an aggregate of elements (aggregate.ts) in float32. `totals` are counted once per minibatch over
 * all ranks, so that the sum of all micro-batches' losses is the minibatch's loss, whatever the split.
 */
import type { Minibatch, PolicyEvaluation } from "#data";
import { noGrad, type Tensor } from "#tensor";
import { aggregate, countFor, type Horizon, validElements } from "./aggregate.ts";
import { klDivergence } from "./kl.ts";
import { atLevel, shapeAtLevel } from "./log-prob-level.ts";
import { entropySums, type LossSums, ratioSums, stackSums, valueSums } from "./loss-metrics.ts";
import { alone, type Ranks } from "./ranks.ts";
import { ratioClip } from "./ratio-clip.ts";
import type { AlgorithmSettings, ClipSettings, CriticSettings } from "./settings.ts";
import { valueLoss } from "./value-loss.ts";

/** Where a micro-batch belongs. */
export interface PartOfMinibatch {
  readonly horizon: Horizon;
  readonly totals: LossTotals;
  /** While the critic warms up, only its own loss counts. */
  readonly criticWarmup?: boolean;
}

/** The denominators of a minibatch. */
export interface LossTotals {
  readonly policy: number;
  readonly value: number;
  readonly entropy: number;
}

export interface Loss {
  readonly loss: Tensor; // scalar with gradient
  readonly sums: Tensor; // float64 [K]: this micro-batch's part of the metrics (loss-metrics.ts)
}

export interface LossTerm {
  /** This micro-batch's share, a scalar with gradient; absent: only measured. */
  readonly loss?: Tensor | undefined;
  /** Its part of the metrics, computed without a gradient. */
  readonly sums: () => LossSums;
}

type Context<Keys = unknown> = PartOfMinibatch & { readonly settings: AlgorithmSettings & Keys };

/** This rank's samples of a minibatch, put together over all ranks. */
export async function countLossTotals(
  batch: Minibatch,
  { loss_agg_func: how, logprob_type, entropy_type }: AlgorithmSettings,
  horizon: Horizon,
  ranks: Ranks = alone,
): Promise<LossTotals> {
  const valueShape = [...(batch.returns?.shape ?? [0, 1]), 1];
  const [policy = 0, value = 0, entropy = 0] = await ranks.sum([
    countFor(shapeAtLevel(batch.logProbs.shape, logprob_type), batch, how, horizon),
    countFor(valueShape, batch, how, horizon),
    validElements(shapeAtLevel(batch.logProbs.shape, entropy_type), batch.mask),
  ]);
  return { policy, value, entropy };
}

/** The loss of a micro-batch. The first term must have a share of it. */
export function sumOfTerms(...terms: readonly (LossTerm | undefined)[]): Loss {
  const present = terms.flatMap((term) => term ?? []);
  const loss = present.flatMap((term) => term.loss ?? []).reduce((sum, share) => sum.add(share));
  const sums = noGrad(() =>
    stackSums(Object.assign({ totalLoss: loss }, ...present.map((term) => term.sums())), loss.device),
  );
  return { loss, sums };
}

/** The policy gradient by clipped ratios (ratio-clip.ts). */
export function clippedRatio(
  now: PolicyEvaluation,
  batch: Minibatch,
  context: Context<ClipSettings>,
): LossTerm {
  const { settings, totals, criticWarmup } = context;
  const logProbs = atLevel(now.logProbs, settings.logprob_type);
  const clip = ratioClip(
    logProbs,
    atLevel(batch.logProbs.float(), settings.logprob_type),
    batch.advantages.unsqueeze(2),
    batch.mask?.unsqueeze(2),
    settings,
  );
  const share = (elements: Tensor): Tensor => aggregate(elements, batch, context, totals.policy);
  const loss = criticWarmup ? logProbs.sum().mul(0) : share(clip.loss);
  return {
    loss,
    sums: () => ({
      ...ratioSums(clip, batch.mask),
      policyLoss: loss,
      policyLossAbs: share(clip.loss.abs()),
    }),
  };
}

/**
 * − entropy_bonus · mean entropy, of policies that have one; without a bonus it is only measured. Masked before it is summed to its
 * level: of a chunk whose episode ends in its midst, only the actions up to the end count.
 */
export function entropyBonus(
  { entropy }: PolicyEvaluation,
  { mask }: Minibatch,
  { settings, totals, criticWarmup }: Context,
): LossTerm | undefined {
  if (!entropy) return undefined;
  const { entropy_bonus: bonus, entropy_type: level } = settings;
  const sum = (mask ? entropy.mul(mask.unsqueeze(2)) : entropy).sum();
  const counts = bonus > 0 && !criticWarmup;
  return {
    loss: counts ? sum.div(Math.max(totals.entropy, 1)).mul(-bonus) : undefined,
    sums: () => entropySums(sum, shapeAtLevel(entropy.shape, level), mask),
  };
}

/** kl_beta · divergence from the reference policy (kl.ts). */
export function referenceDivergence(
  now: PolicyEvaluation,
  batch: Minibatch,
  context: Context,
): LossTerm | undefined {
  const { settings, totals, criticWarmup } = context;
  if (settings.kl_beta === 0) return undefined;
  if (!batch.referenceLogProbs)
    throw new Error("internal: kl_beta is set, but no reference policy was asked");
  const { kl_penalty: kind, logprob_type: level } = settings;
  const reference = atLevel(batch.referenceLogProbs.float(), level);
  const divergence = klDivergence(atLevel(now.logProbs, level), reference, kind);
  const share = aggregate(divergence, batch, context, totals.policy);
  return {
    loss: criticWarmup ? undefined : share.mul(settings.kl_beta),
    sums: () => ({ referenceKl: share }),
  };
}

/** The critic's loss (value-loss.ts). */
export function criticError(
  { values }: PolicyEvaluation,
  batch: Minibatch,
  context: Context<CriticSettings>,
): LossTerm {
  const { settings, totals } = context;
  const { returns } = batch;
  if (!values || !batch.values || !returns)
    throw new Error("internal: a critic's loss needs values and returns");
  const error = valueLoss(values, batch.values, returns, settings.value_clip, settings.huber_delta);
  const loss = aggregate(error.loss.unsqueeze(2), batch, context, totals.value);
  return {
    loss,
    sums: () => ({ valueLoss: loss, ...valueSums(error, values, returns, batch.mask) }),
  };
}
