/** One of the robot's hands as its experts see it: where it is, where it aims, and the action that moves the aim towards a pose. */
import { matrixOfVector, multiplyRotations, type ServoArm, type Side, vectorBetween } from "#engine";
import type { Point } from "../../experts/expert.ts";
import { minus } from "../../experts/motion.ts";
import { homeRobot } from "../robot.ts";

/** Row-major [9]. */
export type Rotation = Float64Array;
/** Seven numbers: translation, rotation, gripper. */
export type HandAction = Float64Array;
export type Grip = -1 | 1; // open, closed

export class Hand {
  readonly side: Side;
  readonly #arm: ServoArm;

  constructor(side: Side, arm: ServoArm) {
    this.side = side;
    this.#arm = arm;
  }

  /** 1 for the left, -1 for the right: the direction of its own side along y. */
  get outward(): 1 | -1 {
    return this.side === "left" ? 1 : -1;
  }

  get at(): Point {
    return point(this.#arm.gripPosition);
  }

  get aim(): Point {
    return point(this.#arm.aimPosition);
  }

  get aimRotation(): Rotation {
    return this.#arm.aimRotation.slice();
  }

  /** Between the fingers, in meters. */
  get opening(): number {
    return this.#arm.opening;
  }

  /** Radians from the hand's rotation to this one. */
  turnTo(rotation: Rotation): number {
    return Math.hypot(...between(rotation, this.#arm.gripRotation));
  }

  /** A step of the aim towards a pose; `speed` 1 is as fast as it goes. */
  towards(place: Point, rotation: Rotation, grip: Grip, speed = 1): HandAction {
    const action = new Float64Array(7);
    const move = minus(place, this.aim).map((distance) => distance / homeRobot.translationPerUnit);
    const turn = between(rotation, this.#arm.aimRotation).map((angle) => angle / homeRobot.rotationPerUnit);
    action.set(cut(move, speed), 0);
    action.set(cut(turn, Math.min(1, speed * 1.2)), 3);
    action[6] = grip;
    return action;
  }
}

/** Fingers down and opening along y, turned about the vertical by `heading`, then about x by `tilt`. */
export function fingersDown(heading = 0, tilt = 0): Rotation {
  const [down, turn, out] = [
    new Float64Array([1, 0, 0, 0, -1, 0, 0, 0, -1]),
    new Float64Array(9),
    new Float64Array(9),
  ];
  matrixOfVector(0, 0, heading, turn);
  multiplyRotations(turn, down, out);
  if (tilt === 0) return out;
  const tilted = new Float64Array(9);
  matrixOfVector(tilt, 0, 0, turn);
  multiplyRotations(turn, out, tilted);
  return tilted;
}

const between = (to: Rotation, from: Rotation): number[] => {
  const vector = new Float64Array(3);
  vectorBetween(to, from, vector);
  return [...vector];
};

/** The same direction, at most so long. */
function cut(vector: readonly number[], most: number): number[] {
  const length = Math.hypot(...vector);
  return length <= most ? [...vector] : vector.map((value) => (value * most) / length);
}

const point = (row: Float64Array): Point => [row[0]!, row[1]!, row[2]!];
