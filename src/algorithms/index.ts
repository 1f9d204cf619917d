/** Algorithms: how a rollout is judged and what loss follows. Found by the configuration's `adv_type`. */
import { type FamilySettings, Registry } from "#registry";
import type { Algorithm } from "./algorithm.ts";
import { algorithmSettings } from "./settings.ts";

export { aggregate, type Horizon } from "./aggregate.ts";
export type { Algorithm } from "./algorithm.ts";
export { bootstrapRewards } from "./bootstrap.ts";
export { deadGroups, episodeReturns, groupAdvantages } from "./group-advantage.ts";
export type { JudgeContext, Judgement } from "./judgement.ts";
export { computeLoss, countLossTotals, type Loss, type LossContext, type LossTotals } from "./loss.ts";
export { lossMetrics, lossSumCount } from "./loss-metrics.ts";
export { alone, type Ranks } from "./ranks.ts";
export { deadGroupsOf, type Refill, refillDeadGroups } from "./resample.ts";
export { type AlgorithmSettings, algorithmSettings } from "./settings.ts";
export { dealMinibatches } from "./shuffle.ts";
export { shuffleAdvantages } from "./shuffled-advantages.ts";

/** What the reference computes whatever its file says. */
const referenceAggregation = "seq-mean-token-mean";

const section: FamilySettings = {
  settings: algorithmSettings,
  check: ({ loss_agg_func: chosen }) =>
    chosen === undefined || chosen === referenceAggregation
      ? []
      : [
          {
            path: "loss_agg_func",
            severity: "warning",
            message:
              `${chosen} is obeyed here. RLinf has the key in its files and ignores it: its loss is always ${referenceAggregation}. ` +
              `So this run trains another loss than RLinf with the same file; for RLinf's loss set algorithm.loss_agg_func=${referenceAggregation}`,
          },
        ],
};

export const algorithms = new Registry<Algorithm & FamilySettings>("algorithm (adv_type)", {
  grpo: async () => ({ ...(await import("./grpo.ts")).grpo, ...section }),
  gae: async () => ({ ...(await import("./ppo.ts")).ppo, ...section }),
});
