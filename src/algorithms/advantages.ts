/** What an algorithm makes of a rollout: samples with their advantages, and numbers about them. */
import type { Minibatch, Rollout } from "#data";
import { noGrad, scope, type Tensor } from "#tensor";
import type { EpisodeMask } from "./episode-mask.ts";
import { alone, type Ranks } from "./ranks.ts";

/** What an algorithm must know of a rollout's columns. */
export interface Columns {
  /** Columns hold several episodes, or episodes only end by time: then nothing is masked. */
  readonly unmasked: boolean;
  readonly ranks?: Ranks;
}

export interface Advantages {
  readonly samples: Minibatch; // M = T·B, in the order of the rollout: decision-major
  readonly metrics: Record<string, number>; // rollout/…
}

/** As an algorithm computed them, in the rollout's own shape. */
export interface Estimated {
  readonly advantages: Tensor; // [T, B, A]
  readonly mask?: Tensor | undefined; // bool [T, B, A]
  readonly returns?: Tensor | undefined; // [T, B, A]
}

/** The samples and numbers of a rollout with its advantages. What was given is freed, but for the rollout. */
export async function withAdvantages(
  rollout: Rollout,
  estimated: Estimated,
  episodes: EpisodeMask | undefined,
  ranks?: Ranks,
): Promise<Advantages> {
  const metrics = await rolloutMetrics(rollout, estimated, episodes?.mask, ranks);
  const samples = scope(() => toSamples(rollout, estimated, episodes));
  const { advantages, mask, returns } = estimated;
  release(episodes?.mask, episodes?.actions, advantages, mask, returns);
  return { samples, metrics };
}

/** [T, B, …] → [T·B, …] for everything that learning needs. */
function toSamples(rollout: Rollout, estimated: Estimated, episodes: EpisodeMask | undefined): Minibatch {
  const [decisions = 0, columns = 0] = rollout.rewards.shape;
  const merge = (tensor: Tensor): Tensor => tensor.reshape([decisions * columns, ...tensor.shape.slice(2)]);
  const inputs = Object.entries(rollout.forwardInputs).map(([name, tensor]) => [name, merge(tensor)]);
  const { mask, returns } = estimated;
  const perSample = episodes?.actions.unsqueeze(0).unsqueeze(2).expand([decisions, columns, 1]);
  return {
    forwardInputs: Object.fromEntries(inputs),
    logProbs: merge(rollout.logProbs),
    advantages: merge(estimated.advantages),
    ...(mask && { mask: merge(mask) }),
    ...(perSample && { episodeActions: merge(perSample) }),
    ...(returns && { returns: merge(returns) }),
    ...(returns && rollout.values && { values: merge(rollout.values.narrow(0, 0, decisions)) }),
    versions: merge(rollout.versions),
  };
}

/** Frees what only the advantages themselves needed. */
export function release(...tensors: readonly (Tensor | undefined)[]): void {
  for (const tensor of tensors) tensor?.dispose();
}

/** rollout/… : rewards over valid actions, advantages (and returns) over valid entries, on all ranks. */
async function rolloutMetrics(
  rollout: Rollout,
  estimated: Estimated,
  actionMask: Tensor | undefined,
  ranks: Ranks = alone,
): Promise<Record<string, number>> {
  const rewards = await spread(rollout.rewards, actionMask, ranks);
  const metrics: Record<string, number> = {
    "rollout/rewards": rewards.mean,
    "rollout/reward_std": rewards.std,
  };
  for (const name of ["advantages", "returns"] as const) {
    const tensor = estimated[name];
    if (!tensor) continue;
    const { max, mean, min } = await spread(tensor, estimated.mask, ranks);
    metrics[`rollout/${name}_max`] = max;
    metrics[`rollout/${name}_mean`] = mean;
    metrics[`rollout/${name}_min`] = min;
  }
  return metrics;
}

interface Spread {
  readonly max: number;
  readonly mean: number;
  readonly min: number;
  readonly std: number;
}

async function spread(x: Tensor, mask: Tensor | undefined, ranks: Ranks): Promise<Spread> {
  const local = noGrad(() =>
    scope(() => {
      const valid = (mask ? x.maskedSelect(mask) : x.flatten()).double();
      const number = (scalar: Tensor): number => Number(scalar.item());
      const empty = valid.numel === 0;
      return {
        count: valid.numel,
        sum: number(valid.sum()),
        squares: number(valid.square().sum()),
        max: empty ? Number.NEGATIVE_INFINITY : number(valid.max()),
        min: empty ? Number.POSITIVE_INFINITY : number(valid.min()),
      };
    }),
  );
  const [count = 0, sum = 0, squares = 0] = await ranks.sum([local.count, local.sum, local.squares]);
  const [max = 0, negated = 0] = await ranks.max([local.max, -local.min]);
  if (count === 0) return { max: 0, mean: 0, min: 0, std: 0 };
  const mean = sum / count;
  const variance = Math.max(0, squares - sum * mean) / Math.max(1, count - 1);
  return { max, mean, min: -negated, std: Math.sqrt(variance) };
}
