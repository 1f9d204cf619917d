/** What an expert must know about a pack's robot and things to turn a goal into skills. */
import type { GroundTruth, Handling, Point } from "./expert.ts";
import type { JointPush } from "./push-joint.ts";

export type JointGoal = "open" | "close" | "turnon" | "turnoff";

export type PushManner = Omit<JointPush, "handling" | "joint">;

export interface ExpertKit {
  readonly handling: Handling;
  /** From an object's origin to where the grip site takes hold of it, by category. */
  readonly grasps: Readonly<Record<string, (object: Point, truth: GroundTruth) => Point>>;
  /** Height above a support's origin at which the lowest point of an object is let go, by the support's category. */
  readonly dropHeights: Readonly<Record<string, number>>;
  readonly defaultDropHeight: number;
  /** Heights above the grasp when reaching for an object, and above its start when carrying it. */
  readonly hover: number;
  readonly lift: number;
  /**
   * How a joint of a category is moved; undefined when this kit cannot.
   *
   * @param where the region that the goal speaks of (it moves with its drawer), or the object's origin.
   */
  push(goal: JointGoal, category: string, where: (truth: GroundTruth) => Point): PushManner | undefined;
}
