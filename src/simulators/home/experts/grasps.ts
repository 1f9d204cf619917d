/** How things of the home are taken: where the grip site takes hold and how the hand is turned. Lengths in meters. */
import type { Point } from "../../experts/expert.ts";
import { plus } from "../../experts/motion.ts";
import { counterHeight } from "../robot.ts";
import { fingersDown, type Hand, type Rotation } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";

export interface Grasp {
  /** From the thing's origin to the grip site. */
  readonly offset: Point;
  readonly rotation: Rotation;
}

interface GraspManner {
  /** Above the thing's origin. */
  readonly height: number;
  /** After which turn the thing looks the same to two fingers. */
  readonly period: number;
}

const quarter = Math.PI / 2;
const square = (height: number): GraspManner => ({ height, period: quarter });

const manners: Readonly<Record<string, GraspManner>> = {
  red_can: square(0.008),
  blue_can: square(0.008),
  blue_box: square(0.003),
  yellow_box: square(0.003),
  green_box: square(0.003),
  bottle: square(0.006),
  jar: square(0.005),
  apple: square(0),
  ball: square(0),
  cup: { height: 0.006, period: Math.PI },
  book: { height: 0, period: Math.PI },
  sponge: { height: 0, period: Math.PI },
};

export const isGraspable = (category: string): boolean =>
  category === "bowl" || Object.hasOwn(manners, category);

export function graspOf(truth: HomeTruth, hand: Hand, thing: string): Grasp {
  const { category } = truth.object(thing);
  if (category === "bowl") return graspOfBowl(truth, hand, thing);
  const manner = manners[category];
  if (!manner) throw new Error(`internal: nobody knows how to grasp a ${category}`);
  const heading = wrap(truth.heading(thing), manner.period);
  return { offset: plus([0, 0, manner.height], truth.mistakes.grasp), rotation: fingersDown(heading) };
}

/** By the upper part of a can, so that a second hand finds room below. */
export const graspOfTop = (truth: HomeTruth, thing: string): Grasp => ({
  offset: plus([0, 0, 0.024], truth.mistakes.grasp),
  rotation: fingersDown(wrap(truth.heading(thing), quarter)),
});

const walls = 12;
const wallRadius = 0.06;
const outerFinger = 0.112; // from the bowl's middle, when the fingers are open across a wall
const fingerRoom = 0.062; // that it needs to the middle of anything else

/** By the wall that lies towards the hand's own side, where the outer finger has room. */
function graspOfBowl(truth: HomeTruth, hand: Hand, thing: string): Grasp {
  const [at, heading] = [truth.at(thing), truth.heading(thing)];
  const near = truth.objects.filter(({ name, fixture, category }) => {
    if (name === thing || (fixture && category !== "cabinet")) return false;
    return fixture ? at[2] < counterHeight + 0.1 : Math.abs(truth.at(name)[2] - at[2]) < 0.15;
  });
  const others = near.map(({ name }) => truth.at(name));
  const wanted = hand.outward * (quarter + 0.35);
  const cost = (way: number): number => {
    const [x, y] = [at[0] + outerFinger * Math.cos(way), at[1] + outerFinger * Math.sin(way)];
    const room = Math.min(1, ...others.map((other) => Math.hypot(x - other[0], y - other[1])));
    return Math.abs(wrap(way - wanted, 2 * Math.PI)) + 20 * Math.max(0, (fingerRoom - room) / 0.06);
  };
  const ways = Array.from({ length: walls }, (_, i) => heading + (2 * Math.PI * i) / walls);
  const way = ways.reduce((best, next) => (cost(next) < cost(best) ? next : best));
  const offset: Point = [wallRadius * Math.cos(way), wallRadius * Math.sin(way), 0.036];
  return {
    offset: plus(offset, truth.mistakes.grasp),
    rotation: fingersDown(wrap(way + quarter, Math.PI)),
  };
}

/** The angle brought into [-period/2, period/2). */
export const wrap = (angle: number, period: number): number =>
  angle - period * Math.floor(angle / period + 0.5);
