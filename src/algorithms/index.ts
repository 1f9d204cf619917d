/** Algorithms: how a rollout becomes advantages, and what loss follows. Found by the configuration's `adv_type`. */
import { Registry } from "#registry";
import type { AlgorithmFamily } from "./algorithm.ts";

export type { Advantages, Columns } from "./advantages.ts";
export { withAdvantages } from "./advantages.ts";
export { aggregate, type Horizon } from "./aggregate.ts";
export { type Algorithm, type AlgorithmFamily, defineAlgorithm } from "./algorithm.ts";
export { bootstrapRewards } from "./bootstrap.ts";
export { atRewardLevel, episodeMask } from "./episode-mask.ts";
export { groupAdvantages } from "./group-advantages.ts";
export { atLevel } from "./log-prob-level.ts";
export {
  clippedRatio,
  criticError,
  entropyBonus,
  type Loss,
  type LossTotals,
  type PartOfMinibatch,
  referenceDivergence,
  sumOfTerms,
} from "./loss.ts";
export { lossMetrics, lossSumCount } from "./loss-metrics.ts";
export { alone, type Ranks } from "./ranks.ts";
export { collectLiveGroups } from "./resample.ts";
export {
  type AlgorithmSettings,
  clipSettings,
  criticSettings,
  groupSettings,
  sharedSettings,
} from "./settings.ts";
export { dealMinibatches } from "./shuffle.ts";
export { shuffleAdvantages } from "./shuffled-advantages.ts";

export const algorithms = new Registry<AlgorithmFamily>("algorithm (adv_type)", {
  grpo: async () => (await import("./grpo.ts")).grpo,
  gae: async () => (await import("./ppo.ts")).ppo,
  rloo: async () => (await import("./rloo.ts")).rloo,
});
