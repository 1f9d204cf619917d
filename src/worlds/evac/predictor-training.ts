/**
 * How the action predictor learns: to follow the hand through several recorded actions from where they began.
 *
 * At run time its own poses are what it goes on from, so a lesson is a walk, not a step. It begins as the identity (a
 * hand that stands still): rectifiers pass a number on as the difference of its positive and negative part.
 *
 * Shapes: B walks, K actions each, A action size, P pose size.
 */
import { noGrad, stack, type Tensor } from "#tensor";
import type { ActionPredictor, Hand, PoseScale } from "./action-predictor.ts";

export interface WalkLesson {
  readonly pose: Tensor; // where the walk begins, [B, P]
  readonly motion: Tensor; // the change that led there, [B, P]
  readonly actions: Tensor; // [B, K, A]
  readonly poses: Tensor; // after each action, [B, K, P]
}

/** Errors below this hardly count by their size, in the data's own spread. */
const small = 0.02;

/**
 * Mean error in the data's own spread, by its size and not by its square: now and then a hand runs into something that the
 * predictor does not know of, and the square of that would outweigh all that it can know.
 */
export function walkLoss(predictor: ActionPredictor, scale: PoseScale, lesson: WalkLesson): Tensor {
  const walked = walk(predictor, scale, lesson, lesson.actions);
  const squares = walked.sub(lesson.poses).div(scale.std).square();
  return squares
    .add(small ** 2)
    .sqrt()
    .sub(small)
    .mean();
}

/** Poses after each action, [B, K, P]. */
export function walk(predictor: ActionPredictor, scale: PoseScale, from: Hand, actions_BKA: Tensor): Tensor {
  let hand = from;
  const poses = actions_BKA.unbind(1).map((action) => {
    hand = predictor.follow(hand, action, scale);
    return hand.pose;
  });
  return stack(poses, 1);
}

/** Takes over the first 2·P hidden numbers of each layer; the others keep what they were drawn with, and say nothing yet. */
export function beginAsIdentity(predictor: ActionPredictor): void {
  const { network } = predictor;
  const [first, second, last] = [network["0"], network["2"], network["4"]];
  const [pose = 0] = last.weight.shape;
  const actions = predictor.actionSize;
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
