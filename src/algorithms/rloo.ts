/**
 * REINFORCE leave-one-out: no critic, an episode is measured against the mean of the others from the same start.
 *
 * Ahmadian et al. 2024, https://arxiv.org/abs/2402.14740. No episode is part of its own baseline, so the gradient stays unbiased; nothing
 * is divided by a spread. The paper's loss is −A·log π(episode), for episodes of the policy that learns. Here a step may take several
 * updates from its episodes (minibatches, `update_epoch`), so the loss is the clipped ratio that GRPO and PPO use too: its gradient is
 * the paper's while ratios are 1, in a step's first update, and later ones stay near. log π(episode) is the sum over the episode's
 * tokens, hence the default of `loss_agg_func`.
 */
import { z } from "zod";
import { defineAlgorithm } from "./algorithm.ts";
import { groupAdvantages } from "./group-advantages.ts";
import { clippedRatio, entropyBonus, referenceDivergence, sumOfTerms } from "./loss.ts";
import { clipSettings, groupSettings, lossAggregation, sharedSettings } from "./settings.ts";

export const rloo = defineAlgorithm({
  name: "rloo",
  groups: true,
  needsCritic: false,
  settings: z.strictObject({
    ...sharedSettings,
    ...clipSettings,
    ...groupSettings,
    loss_agg_func: lossAggregation.default("seq-mean-token-sum"),
  }),

  /** A_j = R_j − (sum of the other R of the group) / (n − 1). */
  advantages: (rollout, context) =>
    groupAdvantages(rollout, context, (returns) => {
      const others = returns.sum(1, true).sub(returns);
      return returns.sub(others.div(context.settings.group_size - 1));
    }),

  loss: (now, batch, context) =>
    sumOfTerms(
      clippedRatio(now, batch, context),
      entropyBonus(now, batch, context),
      referenceDivergence(now, batch, context),
    ),
});
