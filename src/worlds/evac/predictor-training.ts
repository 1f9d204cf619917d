/**
 * How the action predictor learns: to follow the hand through several recorded actions from where they began.
 *
 * At run time its own poses are what it goes on from, so a lesson is a walk, not a step. It begins as the identity (a
 * hand that stands still): rectifiers pass a number on as the difference of its positive and negative part.
 *
 * Shapes: B walks, K actions each, A action size, P pose size.
 */
import { noGrad, stack, type Tensor } from "#tensor";
import type { ActionPredictor, PoseScale } from "./action-predictor.ts";

export interface WalkLesson {
  readonly from: Tensor; // [B, P]
  readonly actions: Tensor; // [B, K, A]
  readonly poses: Tensor; // after each action, [B, K, P]
}

/** Mean squared error in the data's own spread. */
export function walkLoss(predictor: ActionPredictor, scale: PoseScale, lesson: WalkLesson): Tensor {
  const walked = walk(predictor, scale, lesson.from, lesson.actions);
  return walked.sub(lesson.poses).div(scale.std).square().mean();
}

/** Poses after each action, [B, K, P]. */
export function walk(
  predictor: ActionPredictor,
  scale: PoseScale,
  from_BP: Tensor,
  actions_BKA: Tensor,
): Tensor {
  let pose = from_BP;
  const poses = actions_BKA.unbind(1).map((action) => {
    pose = predictor.forwardScaled(action, pose, scale);
    return pose;
  });
  return stack(poses, 1);
}

/** Takes over the first 2·P hidden numbers of each layer; the others keep what they were drawn with, and say nothing yet. */
export function beginAsIdentity({ network }: ActionPredictor): void {
  const [first, second, last] = [network["0"], network["2"], network["4"]];
  const [pose = 0] = last.weight.shape;
  const actions = first.weight.shape[1]! - pose;
  noGrad(() => {
    first.weight.narrow(0, 0, 2 * pose).zero_();
    second.weight.narrow(0, 0, 2 * pose).zero_();
    last.weight.zero_();
    for (let i = 0; i < pose; i++) {
      const put = ({ weight }: { weight: Tensor }, row: number, column: number, value: number): void => {
        weight.select(0, row).select(0, column).fill_(value);
      };
      put(first, i, actions + i, 1);
      put(first, pose + i, actions + i, -1);
      put(second, i, i, 1);
      put(second, pose + i, pose + i, 1);
      put(last, i, i, 1);
      put(last, i, pose + i, -1);
    }
  });
}
