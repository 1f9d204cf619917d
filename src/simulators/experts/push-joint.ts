/**
 * Moves a drawer or a lever with the closed hand: come down beside it, push along a line until its joint is there, leave.
 *
 * Opening a drawer is the same as pushing: the fingers come down behind its handle.
 */
import type { Action, GroundTruth, Handling, Point, Skill } from "./expert.ts";
import { distance, funnel, moveTowards, plus } from "./motion.ts";

export interface JointPush {
  readonly joint: string;
  readonly done: (position: number) => boolean;
  /** Where the grip site is when the push begins, and the horizontal unit vector of the push. */
  readonly start: (truth: GroundTruth) => Point;
  readonly direction: Point;
  /** Height above the start at which the hand arrives. */
  readonly hover: number;
  readonly handling: Handling;
}

type Phase = "reach" | "push" | "leave";

/** Fingers nearer together than this count as closed. Meters. */
const closed = 0.015;

export class PushJoint implements Skill {
  readonly #push: JointPush;
  #phase: Phase = "reach";
  #line: Point = [0, 0, 0]; // a point of the line to push along

  constructor(push: JointPush) {
    this.#push = push;
  }

  act(truth: GroundTruth): Action | undefined {
    const { hover, handling, direction } = this.#push;
    const grip = truth.gripPosition();
    this.#advance(truth, grip);
    if (this.#phase === "reach") return this.#reach(truth, grip);
    if (this.#phase === "push") return moveTowards(grip, ahead(grip, this.#line, direction), 1, handling);
    if (grip[2] - this.#line[2] > hover) return undefined;
    return moveTowards(grip, plus(grip, [0, 0, hover]), 1, handling);
  }

  #advance(truth: GroundTruth, grip: Point): void {
    const { joint, done, start, handling } = this.#push;
    const finished = done(truth.jointPosition(joint));
    if (this.#phase === "reach" && !finished && distance(grip, start(truth)) < handling.exact) {
      this.#phase = "push";
      this.#line = start(truth);
    } else if (this.#phase === "push" && finished) {
      this.#phase = "leave";
    } else if (this.#phase === "reach" && finished) {
      this.#phase = "leave"; // someone else did it
      this.#line = grip;
    }
  }

  #reach(truth: GroundTruth, grip: Point): Action {
    const { start, hover, handling } = this.#push;
    const mouth = { inner: handling.exact, outer: 4 * handling.near };
    const target = funnel(grip, start(truth), hover, mouth);
    const open = truth.gripperOpening() > closed;
    const waiting: Point = [
      target[0],
      target[1],
      Math.max(target[2], Math.min(grip[2], start(truth)[2] + hover)),
    ];
    return moveTowards(grip, open ? waiting : target, 1, handling);
  }
}

/** A point 5 cm farther along the line: far enough for full speed, and back onto the line if the hand strayed. */
function ahead(grip: Point, line: Point, direction: Point): Point {
  const along = (grip[0] - line[0]) * direction[0] + (grip[1] - line[1]) * direction[1] + 0.05;
  return [line[0] + along * direction[0], line[1] + along * direction[1], line[2]];
}
