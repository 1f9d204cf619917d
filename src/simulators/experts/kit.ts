/** What an expert must know about a pack's robot and things to turn a goal into skills. */
import type { GroundTruth, Handling, Point } from "./expert.ts";
import type { JointPush } from "./push-joint.ts";

export type JointGoal = "open" | "close" | "turnon" | "turnoff";

export interface GraspManner {
  /** From the object's origin to where the grip site takes hold. */
  readonly offset: Point;
  /** How far to open the fingers before; fully where it is absent. */
  readonly opening?: number;
  /** The object can also be taken on the other side, y turned around. */
  readonly eitherSide?: boolean;
  /** How far the grasp may be moved along x to make room for the hand. */
  readonly slack?: number;
}

export type PushManner = Omit<JointPush, "handling" | "joint">;

export interface ExpertKit {
  readonly handling: Handling;
  /** From the grip site to either end of the hand, along y. */
  readonly handReach: number;
  /** How an object is taken, by category; one that is absent cannot be. */
  readonly grasps: Readonly<Record<string, GraspManner>>;
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
