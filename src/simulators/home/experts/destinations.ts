/** Where a thing must get to for a predicate to hold, and how it is let go there. Lengths in meters. */
import type { Point } from "../../experts/expert.ts";
import { plus } from "../../experts/motion.ts";
import { counterHeight } from "../robot.ts";
import type { Destination } from "./carry.ts";
import type { HomeTruth } from "./home-truth.ts";

interface Container {
  /** Height of the thing's lowest point above the floor when it is let go. */
  readonly clearance: number;
  readonly over: number;
  readonly near: number;
}

const containers: Readonly<Record<string, Container>> = {
  basket: { clearance: 0.05, over: 0.1, near: 0.02 },
  cabinet: { clearance: 0.015, over: 0.14, near: 0.012 },
  bowl: { clearance: 0.011, over: 0.08, near: 0.008 },
  tray: { clearance: 0.009, over: 0.08, near: 0.015 },
};

/** On a surface: its middle, or of a cabinet the front part, which the arms reach. */
export function onto(truth: HomeTruth, thing: string, regionName: string): Destination {
  const { parent = "" } = truth.world.scene.regions.get(regionName)!;
  const { bottom } = truth.object(thing);
  const forward = truth.object(parent).category === "cabinet" ? -0.045 : 0;
  return {
    place: () => plus(truth.site(regionName), [forward, 0, 0.006 - bottom]),
    done: () => truth.holds("on", thing, regionName),
  };
}

export function into(truth: HomeTruth, thing: string, regionName: string): Destination {
  const { parent = "", size } = truth.world.scene.regions.get(regionName)!;
  const container = containers[truth.object(parent).category]!;
  const up = container.clearance - size[2] - truth.object(thing).bottom;
  const spot = spotIn(truth, thing, regionName, parent);
  return {
    ...container,
    place: () => {
      const [x, y] = spot();
      return plus(truth.site(regionName), [x, y, up]);
    },
    done: () => truth.holds("in", thing, regionName),
  };
}

type Spot = readonly [x: number, y: number];

/** Three things in a basket, each with room for its own fingers. */
const corners: readonly Spot[] = [
  [-0.055, 0.045],
  [-0.055, -0.04],
  [0.03, 0],
];

/** From the middle of a region, where fingers have room. */
function spotIn(truth: HomeTruth, thing: string, regionName: string, owner: string): () => Spot {
  const together = truth.world.scene.task.goal.filter(({ args }) => args[1] === regionName);
  const side = truth.at(thing)[1] > 0 ? 1 : -1;
  switch (truth.object(owner).category) {
    case "basket": {
      if (together.length === 1) return () => [-0.03, 0.035 * side];
      const corner = corners[together.findIndex(({ args }) => args[0] === thing)] ?? corners[0]!;
      return () => corner;
    }
    case "cabinet": // the middle of what a drawer shows in front of the cabinet
      return () => [truth.joint(`${owner}_drawer_slide`) / 2 - 0.107, 0];
    case "tray": {
      const turn = truth.rotation(owner);
      const [x, y] = [-0.035 * side, 0.085 * side];
      return () => [turn[0]! * x + turn[1]! * y, turn[3]! * x + turn[4]! * y];
    }
    default:
      return () => [0, 0];
  }
}

export function onTopOf(truth: HomeTruth, thing: string, lower: string): Destination {
  const up = truth.object(lower).top - truth.object(thing).bottom + 0.003;
  return {
    place: () => plus(truth.at(lower), [0, 0, up]),
    near: 0.006,
    done: () => truth.holds("stacked", thing, lower),
  };
}

/** On the side where it comes from. */
export function beside(truth: HomeTruth, thing: string, other: string): Destination {
  const side = Math.sign(truth.at(thing)[1] - truth.at(other)[1]);
  const height = counterHeight - truth.object(thing).bottom + 0.002;
  return {
    place: () => [truth.at(other)[0], truth.at(other)[1] + 0.17 * side, height],
    done: () => truth.holds("nextto", thing, other),
  };
}

/** A fixed place on the counter. */
export function downAt(truth: HomeTruth, thing: string, x: number, y: number): Destination {
  const place: Point = [x, y, counterHeight - truth.object(thing).bottom + 0.003];
  const there = () => Math.hypot(truth.at(thing)[0] - x, truth.at(thing)[1] - y) < 0.05;
  return { place: () => place, over: 0.05, near: 0.02, done: there };
}
