/** What an algorithm thinks of a rollout: samples to learn from, and numbers about them. */
import type { Minibatch, Rollout } from "#data";
import { noGrad, scope, type Tensor } from "#tensor";
import type { EpisodeMask } from "./episode-mask.ts";
import { alone, type Ranks } from "./ranks.ts";
import type { AlgorithmSettings } from "./settings.ts";

export interface JudgeContext {
  readonly settings: AlgorithmSettings;
  /** Columns hold several episodes, or episodes only end by time: then nothing is masked. */
  readonly unmasked: boolean;
  readonly ranks?: Ranks;
}

export interface Judgement {
  readonly samples: Minibatch; // M = T·B, in the order of the rollout: decision-major
  readonly metrics: Record<string, number>; // rollout/…
  readonly deadGroups: readonly number[]; // groups without any spread, by number
}

export interface Verdict {
  readonly advantages: Tensor; // [T, B, A]
  readonly mask?: Tensor | undefined; // bool [T, B, A]
  readonly returns?: Tensor | undefined; // [T, B, A]
}

/** [T, B, …] → [T·B, …] for everything that learning needs. */
export function toSamples(rollout: Rollout, verdict: Verdict, episodes: EpisodeMask | undefined): Minibatch {
  const [decisions = 0, columns = 0] = rollout.rewards.shape;
  const merge = (tensor: Tensor): Tensor => tensor.reshape([decisions * columns, ...tensor.shape.slice(2)]);
  const inputs = Object.entries(rollout.forwardInputs).map(([name, tensor]) => [name, merge(tensor)]);
  const { mask, returns } = verdict;
  const perSample = episodes?.actions.unsqueeze(0).unsqueeze(2).expand([decisions, columns, 1]);
  return {
    forwardInputs: Object.fromEntries(inputs),
    logProbs: merge(rollout.logProbs),
    advantages: merge(verdict.advantages),
    ...(mask && { mask: merge(mask) }),
    ...(perSample && { episodeActions: merge(perSample) }),
    ...(returns && { returns: merge(returns) }),
    ...(returns && rollout.values && { values: merge(rollout.values.narrow(0, 0, decisions)) }),
    versions: merge(rollout.versions),
  };
}

/** Frees what only the judgement itself needed. */
export function release(...tensors: readonly (Tensor | undefined)[]): void {
  for (const tensor of tensors) tensor?.dispose();
}

/** rollout/… : rewards over valid actions, advantages (and returns) over valid entries, on all ranks. */
export async function rolloutMetrics(
  rollout: Rollout,
  verdict: Verdict,
  actionMask: Tensor | undefined,
  ranks: Ranks = alone,
): Promise<Record<string, number>> {
  const rewards = await spread(rollout.rewards, actionMask, ranks);
  const metrics: Record<string, number> = {
    "rollout/rewards": rewards.mean,
    "rollout/reward_std": rewards.std,
  };
  for (const name of ["advantages", "returns"] as const) {
    const tensor = verdict[name];
    if (!tensor) continue;
    const { max, mean, min } = await spread(tensor, verdict.mask, ranks);
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
