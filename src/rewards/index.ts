/** What judges a picture: success classifiers, read safely from published files. */

export { RewardModelEnsemble } from "./ensemble.ts";
export { taskSentences } from "./libero-tasks.ts";
export { defineReward, loadReward, type RewardFamily, type RewardSettings, rewards } from "./load-reward.ts";
export { ResnetReward } from "./resnet-reward.ts";
export { ResnetScorer } from "./resnet-scorer.ts";
export type { TrunkWidths } from "./resnet-trunk.ts";
export type { RewardModel } from "./reward-model.ts";
export { TaskResnetReward } from "./task-resnet-reward.ts";
export {
  type RewardModelLesson,
  rewardModelLoss,
  setLearning,
  type TrainableRewardModel,
} from "./training.ts";
