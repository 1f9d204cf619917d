/**
 * Proximal policy optimization with a critic.
 *
 * Schulman et al. 2017, https://arxiv.org/abs/1707.06347; advantages by GAE (gae.ts), standardised over the
 * valid entries of the whole batch on all ranks, so that the result does not depend on how many there are.
 */
import type { Rollout } from "#data";
import { noGrad, scope } from "#tensor";
import type { Algorithm } from "./algorithm.ts";
import { episodeMask } from "./episode-mask.ts";
import { gae } from "./gae.ts";
import { atRewardLevel } from "./grpo.ts";
import { type JudgeContext, type Judgement, release, rolloutMetrics, toSamples } from "./judgement.ts";
import { normalize } from "./normalize.ts";
import { timeline, unflatten } from "./timeline.ts";

export const ppo: Algorithm = {
  name: "ppo",
  needsCritic: true,

  async judge(rollout: Rollout, context: JudgeContext): Promise<Judgement> {
    const { settings, unmasked, ranks } = context;
    const { gamma, gae_lambda: lambda, reward_type: level } = settings;
    const { episodes, mask, raw, returns } = noGrad(() =>
      scope(() => {
        const episodes = unmasked ? undefined : episodeMask(rollout.dones);
        const line = timeline(rollout, level, episodes?.mask);
        const estimate = gae(line, gamma, lambda);
        const width = level === "chunk_level" ? 1 : (rollout.rewards.shape[2] ?? 1);
        return {
          episodes,
          mask: atRewardLevel(episodes?.mask, level),
          raw: unflatten(estimate.advantages, width),
          returns: rollout.values && unflatten(estimate.returns, width),
        };
      }),
    );
    const advantages = settings.normalize_advantages ? await normalize(raw, mask, ranks) : raw;
    const verdict = { advantages, mask, returns };
    const metrics = await rolloutMetrics(rollout, verdict, episodes?.mask, ranks);
    const samples = scope(() => toSamples(rollout, verdict, episodes));
    release(episodes?.mask, episodes?.actions, mask, raw, advantages, returns);
    return { samples, metrics, deadGroups: [] };
  },
};
