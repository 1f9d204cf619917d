/**
 * Group relative policy optimization: no critic, an episode is judged against others from the same start.
 *
 * Shao et al. 2024, https://arxiv.org/abs/2402.03300, for episodes of action chunks: one advantage per
 * episode, given to each of its valid actions. Optionally drops groups whose mean return says that the task
 * was too easy or too hard.
 */
import type { Rollout } from "#data";
import { noGrad, scope, type Tensor } from "#tensor";
import type { Algorithm } from "./algorithm.ts";
import { episodeMask } from "./episode-mask.ts";
import { deadGroups, episodeReturns, groupAdvantages, keptColumns } from "./group-advantage.ts";
import { type JudgeContext, type Judgement, release, rolloutMetrics, toSamples } from "./judgement.ts";
import { alone } from "./ranks.ts";

export const grpo: Algorithm = {
  name: "grpo",
  needsCritic: false,

  async judge(rollout: Rollout, context: JudgeContext): Promise<Judgement> {
    const { settings, unmasked } = context;
    const { group_size: size, reward_type: level } = settings;
    const { episodes, returns, verdict, kept } = noGrad(() =>
      scope(() => {
        const episodes = unmasked ? undefined : episodeMask(rollout.dones);
        const returns = episodeReturns(rollout.rewards, episodes?.mask);
        const kept = settings.filter_rewards
          ? keptColumns(returns, size, settings.rewards_lower_bound ?? 0, settings.rewards_upper_bound ?? 0)
          : undefined;
        const mask = combine(atRewardLevel(episodes?.mask, level), kept, rollout, level);
        const perColumn = groupAdvantages(returns, size, settings.normalize_advantages);
        const shape = [
          ...rollout.rewards.shape.slice(0, 2),
          level === "chunk_level" ? 1 : (rollout.rewards.shape[2] ?? 1),
        ];
        const spread = perColumn.unsqueeze(0).unsqueeze(2).expand(shape);
        return {
          episodes,
          returns,
          kept,
          verdict: { advantages: mask ? spread.mul(mask) : spread.clone(), mask },
        };
      }),
    );
    const ranks = context.ranks ?? alone;
    const metrics = await rolloutMetrics(rollout, verdict, episodes?.mask, ranks);
    const dead = deadGroups(returns, size);
    const columns = returns.numel;
    const keptColumnCount = kept ? scope(() => Number(kept.long().sum().item())) : columns;
    const [deadSum = 0, keptSum = 0, columnSum = 1] = await ranks.sum([
      dead.length,
      keptColumnCount,
      columns,
    ]);
    const samples = scope(() => toSamples(rollout, verdict, episodes));
    release(episodes?.mask, episodes?.actions, returns, kept, verdict.advantages, verdict.mask);
    return {
      samples,
      metrics: {
        ...metrics,
        "rollout/dead_groups": (deadSum * size) / columnSum,
        "rollout/kept_fraction": keptSum / columnSum,
      },
      deadGroups: dead,
    };
  },
};

/** bool [T, B, C] → [T, B, A]. A chunk counts when any of its actions does. */
export function atRewardLevel(
  mask: Tensor | undefined,
  level: "action_level" | "chunk_level",
): Tensor | undefined {
  return level === "chunk_level" ? mask?.anyAlong(2, true) : mask;
}

function combine(
  mask: Tensor | undefined,
  kept: Tensor | undefined,
  rollout: Rollout,
  level: "action_level" | "chunk_level",
): Tensor | undefined {
  if (!kept) return mask;
  const [decisions = 0, columns = 0, chunk = 0] = rollout.rewards.shape;
  const wide = kept
    .unsqueeze(0)
    .unsqueeze(2)
    .expand([decisions, columns, level === "chunk_level" ? 1 : chunk]);
  return mask ? mask.logicalAnd(wide) : wide.clone();
}
