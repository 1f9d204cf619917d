/**
 * Group relative policy optimization: no critic, an episode is measured against others from the same start.
 *
 * Shao et al. 2024, https://arxiv.org/abs/2402.03300, for episodes of action chunks: one advantage per episode, given to each of
 * its valid actions. `normalize_advantages: False` leaves out the division by the spread (Dr. GRPO, https://arxiv.org/abs/2503.20783).
 * The mean over tokens, the separate upper bound of the clip and dynamic sampling of DAPO (https://arxiv.org/abs/2503.14476) are
 * settings: docs/algorithms/grpo.md.
 */
import { z } from "zod";
import { defineAlgorithm } from "./algorithm.ts";
import { groupAdvantages } from "./group-advantages.ts";
import { clippedRatio, entropyBonus, referenceDivergence, sumOfTerms } from "./loss.ts";
import {
  clipSettings,
  criticSettings,
  groupSettings,
  sharedSettings,
  warnOfAggregation,
} from "./settings.ts";

export const grpo = defineAlgorithm({
  name: "grpo",
  groups: true,
  needsCritic: false,
  settings: z.strictObject({
    ...sharedSettings,
    ...clipSettings,
    ...groupSettings,
    ...criticSettings,
    normalize_advantages: z.boolean().default(true).describe("divide by the group's spread"),
  }),
  unused: {
    gamma: "grpo does not discount",
    gae_lambda: "grpo does not discount",
    value_clip: "there is no critic to train",
    huber_delta: "there is no critic to train",
  },
  check: warnOfAggregation,

  /** A_j = (R_j − mean R) / (std R + 1e-6) over the group, std with n − 1. */
  advantages: (rollout, context) =>
    groupAdvantages(rollout, context, (returns) => {
      const centered = returns.sub(returns.mean(1, true));
      return context.settings.normalize_advantages
        ? centered.div(returns.std(1, 1, true).add(1e-6))
        : centered;
    }),

  loss: (now, batch, context) =>
    sumOfTerms(
      clippedRatio(now, batch, context),
      entropyBonus(now, batch, context),
      referenceDivergence(now, batch, context),
    ),
});
