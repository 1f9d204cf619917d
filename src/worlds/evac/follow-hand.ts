/**
 * Where the hand goes in a chunk: absolute poses, guessed action by action from where the chunk begins.
 *
 * With `referenceQuirks` they are written one slot early and the last one is the episode's first, as in the reference.
 *
 * Shapes: B episodes, C actions of the chunk, A action size.
 */
import { stack, type Tensor } from "#tensor";
import { gatherMemory, type WorldMemory } from "../world.ts";
import type { ActionPredictor, PoseScale } from "./action-predictor.ts";
import type { Pose } from "./trajectory.ts";

export interface HandFollower {
  readonly predictor: ActionPredictor;
  /** Given, poses are normalized around the predictor. */
  readonly poseScale?: PoseScale | undefined;
  readonly referenceQuirks: boolean;
}

export interface FollowedHands {
  /** The pose before each new frame and the new ones, C + 1 per episode. */
  readonly poses: readonly (readonly Pose[])[];
  /** The last change of each, [B, 8]. */
  readonly motion: Tensor;
}

export function followHands(
  { predictor, poseScale, referenceQuirks }: HandFollower,
  memories: readonly WorldMemory[],
  actions_BCA: Tensor,
): FollowedHands {
  const { device } = predictor.network["0"].weight;
  const gather = (name: string): Tensor => stack(gatherMemory(memories, name)).float().to({ device });
  let hand = { pose: gather("pose"), motion: gather("motion") };
  const rows = [hand.pose];
  for (const action of actions_BCA.float().to({ device }).unbind(1)) {
    hand = predictor.follow(hand, action, poseScale);
    rows.push(hand.pose);
  }
  const poses = stack(rows, 1).nested() as unknown as number[][][]; // [B, C + 1, 8]
  if (!referenceQuirks) return { poses, motion: hand.motion };
  const late = poses.map((row, b) => [
    ...row.slice(1),
    memories[b]!.firstPose!.nested() as unknown as number[],
  ]);
  return { poses: late, motion: hand.motion };
}
