/** One hand takes a thing, carries it somewhere and lets it go; again if that failed. */
import type { Point } from "../../experts/expert.ts";
import { clamp, distance, flatDistance, minus, plus } from "../../experts/motion.ts";
import { type Grasp, graspOf } from "./grasps.ts";
import type { Hand, Rotation } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";
import { careful, full, funnel, type Move, release, shift, squeeze } from "./moves.ts";

export interface Destination {
  /** Where the thing's origin should get to. */
  readonly place: () => Point;
  /** How high above it to come in. */
  readonly over?: number;
  /** Horizontal meters that count as there. */
  readonly near?: number;
  readonly done: () => boolean;
}

const tries = 3;

export function* carry(truth: HomeTruth, hand: Hand, thing: string, to: Destination): Move {
  const lift = truth.safeHeight > 0 ? 0.2 : 0.13;
  for (let attempt = 0; attempt < tries; attempt++) {
    if (!(yield* pick(truth, hand, thing, { lift }))) continue;
    if ((yield* put(truth, hand, thing, to)) && to.done()) return true;
  }
  return false;
}

export interface PickOptions {
  readonly lift: number;
  readonly grasp?: () => Grasp;
}

export function* pick(truth: HomeTruth, hand: Hand, thing: string, options: PickOptions): Move {
  const { lift, grasp = () => graspOf(truth, hand, thing) } = options;
  for (let attempt = 0; attempt < tries; attempt++) {
    const { offset, rotation } = grasp();
    yield* funnel(truth, hand, () => plus(truth.at(thing), offset), { rotation });
    yield* squeeze(hand);
    const height = truth.at(thing)[2];
    yield* shift(hand, [0, 0, lift], { rotation, grip: 1, limit: 20 });
    if (truth.at(thing)[2] > height + 0.4 * lift) return true;
    yield* shift(hand, [0, 0, 0.08], { rotation, near: 0.02 }); // missed: let go, above, again
  }
  return false;
}

/** Carries the held thing up, then sideways, then down a funnel; lets go just above, and leaves upwards. */
export function* put(
  truth: HomeTruth,
  hand: Hand,
  thing: string,
  { place, over = 0.08, near = 0.012 }: Destination,
  rotation: Rotation = hand.aimRotation,
): Move {
  const speed = truth.object(thing).category === "bowl" ? 0.65 : full; // held by a thin wall
  let last: Point = [0, 0, 0];
  for (let step = 0, stuck = 0; step < 90; step++) {
    const [to, at] = [plus(place(), truth.mistakes.place), truth.at(thing)];
    stuck = distance(at, last) < 0.0015 ? stuck + 1 : 0;
    last = at;
    if (stuck > 5 && distance(to, at) < 0.06) break; // it lies on something already
    const flat = flatDistance(to, at);
    if (flat < near && at[2] - to[2] < 0.008) break;
    const held = minus(hand.at, at);
    if (Math.hypot(...held) > 0.15) return false; // it fell
    const close = flat < 0.05 && at[2] - to[2] < 0.05;
    yield hand.towards(plus(waypoint(at, to, over), held), rotation, 1, close ? careful : speed);
  }
  yield* release(hand);
  yield* shift(hand, [0, 0, 0.08], { rotation });
  return true;
}

/** Below the height to carry at it goes up before it goes sideways. */
function waypoint(at: Point, to: Point, over: number): Point {
  const flat = flatDistance(to, at);
  const height = to[2] + over * clamp((flat - 0.008) / 0.05, 0, 1);
  const low = height - at[2];
  if (flat <= 0.06 || low <= 0.02) return [to[0], to[1], height];
  const part = Math.max(0, 1 - low / 0.06);
  return [at[0] + (to[0] - at[0]) * part, at[1] + (to[1] - at[1]) * part, height];
}
