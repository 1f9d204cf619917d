/**
 * Picks an object up and puts it down somewhere else.
 *
 * Reach along a funnel, close, lift while slowly moving sideways, carry above everything, lower along a funnel, let go,
 * leave. An object that slips out of the hand on the way is fetched again.
 */
import type { Action, GroundTruth, Handling, Point, Skill } from "./expert.ts";
import type { Grasp } from "./grasp-choice.ts";
import { clamp, distance, flatDistance, funnel, halfTurn, minus, moveTowards, plus, stay } from "./motion.ts";

export interface ObjectMove {
  readonly body: string;
  /** How to take hold; asked when a reach begins. */
  readonly graspOf: (object: Point, truth: GroundTruth) => Grasp;
  /** How far the fingers are open while reaching; fully where it is undefined. */
  readonly opening?: number | undefined;
  /** Where the body's origin is when the hand lets go. */
  readonly destination: (truth: GroundTruth) => Point;
  /** Heights of the grip site above the grasp when reaching, and of the body above its start when carrying. */
  readonly hover: number;
  readonly lift: number;
  readonly handling: Handling;
}

type Phase = "reach" | "close" | "carry" | "release" | "leave";

/** What a control step is decided from. */
interface Sight {
  readonly grip: Point;
  readonly object: Point;
  /** Where the grip site should take hold now. */
  readonly hold: Point;
  readonly goal: Point;
  readonly opening: number;
  /** Radians that the hand is still to be turned. */
  readonly turn: number;
}

/** A gripper whose opening changed less than this in a control step has met something. Meters. */
const stillOpening = 0.0008;
/** Farther than this from where it was gripped, an object has slipped. Meters. */
const slipped = 0.03;

/** Radians. A hand that is left alone keeps its direction better than this. */
const turnTolerance = 0.12;
/** Meters of opening; a gripper that moves by steps cannot do better. */
const preshapeTolerance = 0.008;

export class MoveObject implements Skill {
  readonly #move: ObjectMove;
  #phase: Phase = "reach";
  #grasp: Grasp | undefined;
  #held: Point = [0, 0, 0]; // from the grip site to the body, as it came out
  #floor = 0; // height of the body before it was lifted
  #opening = Number.NaN;
  #stillSteps = 0;

  constructor(move: ObjectMove) {
    this.#move = move;
  }

  act(truth: GroundTruth): Action | undefined {
    const sight = this.#look(truth);
    this.#countStillSteps(sight.opening);
    this.#phase = this.#next(sight);
    const { handling } = this.#move;
    switch (this.#phase) {
      case "reach":
        return this.#reach(sight);
      case "close":
        return moveTowards(sight.grip, sight.hold, 1, handling);
      case "carry":
        return this.#carry(sight);
      case "release":
        return stay(-1);
      case "leave":
        return this.#leave(sight);
    }
  }

  #look(truth: GroundTruth): Sight {
    const { body, graspOf, destination } = this.#move;
    const object = truth.bodyPosition(body);
    this.#grasp ??= graspOf(object, truth);
    return {
      grip: truth.gripPosition(),
      object,
      hold: plus(object, this.#grasp.offset),
      goal: destination(truth),
      opening: truth.gripperOpening(),
      turn: halfTurn(this.#grasp.turn - truth.gripperTurn()),
    };
  }

  #countStillSteps(opening: number): void {
    this.#stillSteps =
      Math.abs(opening - this.#opening) < stillOpening
        ? this.#stillSteps + 1
        : Math.min(this.#stillSteps + 1, 0);
    this.#opening = opening;
  }

  #next({ grip, object, hold, goal }: Sight): Phase {
    const { near, exact, stillSteps } = this.#move.handling;
    const still = this.#stillSteps >= stillSteps;
    switch (this.#phase) {
      case "reach":
        if (flatDistance(object, goal) < slipped && object[2] < goal[2]) return "leave"; // it is there already
        if (distance(grip, hold) > exact) return "reach";
        this.#stillSteps = -1; // the fingers have yet to start
        this.#floor = object[2];
        return "close";
      case "close":
        if (still) this.#held = minus(object, grip);
        return still ? "carry" : "close";
      case "carry":
        if (distance(minus(object, grip), this.#held) > slipped) {
          this.#grasp = undefined;
          return "reach";
        }
        if (flatDistance(object, goal) > near || object[2] > goal[2] + near) return "carry";
        this.#stillSteps = -1;
        return "release";
      case "release":
        return still ? "leave" : "release";
      case "leave":
        return "leave";
    }
  }

  #reach({ grip, hold, opening, turn }: Sight): Action {
    const { hover, handling } = this.#move;
    const mouth = { inner: handling.exact, outer: 4 * handling.near };
    const turned = Math.abs(turn) < turnTolerance;
    const target = turned ? funnel(grip, hold, hover, mouth) : plus(hold, [0, 0, hover]);
    const action = moveTowards(grip, target, -1, handling);
    if (!turned) action[5] = clamp(turn * 2, -1, 1); // a full action turns by up to half a radian
    action[6] = this.#preshape(opening);
    return action;
  }

  /** Opens or closes the fingers towards the opening that the grasp wants, then leaves them. */
  #preshape(opening: number): number {
    const wanted = this.#move.opening;
    if (wanted === undefined) return -1;
    const excess = opening - wanted;
    return Math.abs(excess) < preshapeTolerance ? 0 : Math.sign(excess);
  }

  #carry({ grip, object, goal }: Sight): Action {
    const { lift, handling } = this.#move;
    const top = Math.max(this.#floor + lift - goal[2], 0);
    const target = funnel(object, goal, top, { inner: handling.near, outer: 4 * handling.near });
    const risen = (object[2] - this.#floor) / lift;
    const above = flatDistance(object, goal) < 4 * handling.near;
    const sideways = above ? 1 : clamp(2 * risen, 0.1, 1);
    return moveTowards(grip, plus(target, minus(grip, object)), 1, handling, sideways);
  }

  #leave({ grip, object }: Sight): Action | undefined {
    const { hover, handling } = this.#move;
    if (grip[2] - object[2] > hover) return undefined;
    return moveTowards(grip, plus(grip, [0, 0, hover]), -1, handling);
  }
}
