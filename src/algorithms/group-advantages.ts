/**
 * One advantage per episode, from a comparison with the others of its group, given to each of its valid actions.
 *
 * What algorithms without a critic share; each says how it compares. Groups whose mean return is out of bounds, or that have no
 * spread, are left out where asked for: the task was too easy or too hard for the policy.
 */
import type { Rollout } from "#data";
import { noGrad, scope, type Tensor } from "#tensor";
import { type Advantages, type Columns, release, withAdvantages } from "./advantages.ts";
import { atRewardLevel, episodeMask } from "./episode-mask.ts";
import { deadGroups, episodeReturns, grouped, keptColumns, liveColumns } from "./groups.ts";
import { alone } from "./ranks.ts";
import type { AlgorithmSettings } from "./settings.ts";
import type { RewardLevel } from "./timeline.ts";

/** `compare`: returns of whole groups [groups, members] → advantages of the same shape. */
export async function groupAdvantages(
  rollout: Rollout,
  { settings, unmasked, ranks = alone }: Columns & { readonly settings: AlgorithmSettings },
  compare: (returns: Tensor) => Tensor,
): Promise<Advantages> {
  const { group_size: size, reward_type: level } = settings;
  const { episodes, returns, kept, estimated } = noGrad(() =>
    scope(() => {
      const episodes = unmasked ? undefined : episodeMask(rollout.dones);
      const returns = episodeReturns(rollout.rewards, episodes?.mask);
      const kept = keptBy(settings, returns);
      const mask = combine(atRewardLevel(episodes?.mask, level), kept, rollout, level);
      const perColumn = compare(grouped(returns, size)).reshape(returns.shape);
      const spread = overActions(perColumn, rollout, level);
      return {
        episodes,
        returns,
        kept,
        estimated: { advantages: mask ? spread.mul(mask) : spread.clone(), mask },
      };
    }),
  );
  const { samples, metrics } = await withAdvantages(rollout, estimated, episodes, ranks);
  const columns = returns.numel;
  const [dead = 0, keptSum = 0, columnSum = 1] = await ranks.sum([
    deadGroups(returns, size).length,
    kept ? scope(() => Number(kept.long().sum().item())) : columns,
    columns,
  ]);
  release(returns, kept);
  return {
    samples,
    metrics: {
      ...metrics,
      "rollout/dead_groups": (dead * size) / columnSum,
      "rollout/kept_fraction": keptSum / columnSum,
    },
  };
}

/** bool [B], where groups are left out; undefined: none is. */
function keptBy(settings: AlgorithmSettings, returns: Tensor): Tensor | undefined {
  const { group_size: size, rewards_lower_bound: lower = 0, rewards_upper_bound: upper = 0 } = settings;
  const bounded = settings.filter_rewards ? keptColumns(returns, size, lower, upper) : undefined;
  if (!settings.filter_dead_groups) return bounded;
  const live = liveColumns(returns, size);
  return bounded ? bounded.logicalAnd(live) : live;
}

/** [B] → [T, B, A], without a copy. */
function overActions(perColumn: Tensor, rollout: Rollout, level: RewardLevel): Tensor {
  const [decisions = 0, columns = 0, chunk = 1] = rollout.rewards.shape;
  const shape = [decisions, columns, level === "chunk_level" ? 1 : chunk];
  return perColumn.unsqueeze(0).unsqueeze(2).expand(shape);
}

function combine(
  mask: Tensor | undefined,
  kept: Tensor | undefined,
  rollout: Rollout,
  level: RewardLevel,
): Tensor | undefined {
  if (!kept) return mask;
  const wide = overActions(kept, rollout, level);
  return mask ? mask.logicalAnd(wide) : wide.clone();
}
