/**
 * Proximal policy optimization with a critic.
 *
 * Schulman et al. 2017, https://arxiv.org/abs/1707.06347; advantages by GAE (gae.ts), standardized over the valid entries of the
 * whole batch on all ranks, so that the result does not depend on how many there are. Configurations name it by its advantages,
 * `adv_type: gae`.
 */
import { z } from "zod";
import { noGrad, scope } from "#tensor";
import { release, withAdvantages } from "./advantages.ts";
import { defineAlgorithm } from "./algorithm.ts";
import { atRewardLevel, episodeMask } from "./episode-mask.ts";
import { gae } from "./gae.ts";
import { clippedRatio, criticError, entropyBonus, referenceDivergence, sumOfTerms } from "./loss.ts";
import { normalize } from "./normalize.ts";
import {
  clipSettings,
  criticSettings,
  groupSettings,
  sharedSettings,
  warnOfAggregation,
} from "./settings.ts";
import { timeline, unflatten } from "./timeline.ts";

export const ppo = defineAlgorithm({
  name: "ppo",
  groups: false,
  needsCritic: true,
  settings: z.strictObject({
    ...sharedSettings,
    ...clipSettings,
    ...groupSettings,
    ...criticSettings,
    normalize_advantages: z.boolean().default(true).describe("divide by the spread of the whole batch"),
  }),
  unused: {
    filter_rewards: "gae compares no groups",
    filter_dead_groups: "gae compares no groups",
    resample_dead_groups: "gae compares no groups",
  },
  check: warnOfAggregation,

  async advantages(rollout, { settings, unmasked, ranks }) {
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
    const result = await withAdvantages(rollout, { advantages, mask, returns }, episodes, ranks);
    release(raw);
    return result;
  },

  loss: (now, batch, context) =>
    sumOfTerms(
      clippedRatio(now, batch, context),
      entropyBonus(now, batch, context),
      referenceDivergence(now, batch, context),
      criticError(now, batch, context),
    ),
});
