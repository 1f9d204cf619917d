/**
 * How a reward model learns from recorded frames that are known to show success or not.
 *
 * Binary cross-entropy; failures may weigh more, because a false success is what a policy will learn to produce.
 *
 * Shapes: N pictures in [-1, 1], H W pixels.
 */
import { aten, type Tensor } from "#tensor";
import { BatchNorm2d } from "./batch-norm.ts";
import type { ResnetReward } from "./resnet-reward.ts";
import type { TaskResnetReward } from "./task-resnet-reward.ts";

export type TrainableRewardModel = ResnetReward | TaskResnetReward;

export interface RewardModelLesson {
  readonly pictures: Tensor; // [N, 3, H, W]
  readonly tasks: Tensor; // int64 [N]
  readonly success: Tensor; // float32 [N], 1 or 0
}

export function rewardModelLoss(
  rewardModel: TrainableRewardModel,
  frames: RewardModelLesson,
  failureWeight: number,
): Tensor {
  const logits = rewardModel.logits(frames.pictures, frames.tasks).squeeze(1);
  const { success } = frames;
  const weights = success
    .neg()
    .add(1)
    .mul(failureWeight - 1)
    .add(1);
  return aten.binary_cross_entropy_with_logits(logits, success, weights);
}

/** While learning, batch norms use and gather the statistics of the batch. */
export function setLearning(rewardModel: TrainableRewardModel, on: boolean): void {
  for (const [, module] of rewardModel.network.modules())
    if (module instanceof BatchNorm2d) module.learning = on;
}
