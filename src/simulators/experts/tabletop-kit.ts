/** How the tabletop's arm handles the tabletop's things. Lengths in meters. */
import type { Point } from "./expert.ts";
import type { ExpertKit, GraspManner, PushManner } from "./kit.ts";
import { plus } from "./motion.ts";

const at = (height: number): GraspManner => ({ offset: [0, 0, height] });

/** From the middle of a drawer's region: the gap behind its handle, and a hand's breadth in front of it. */
const behindHandle: Point = [0.074, 0, 0.016];
const beforeHandle: Point = [0.125, 0, 0.024];
/** From the stove's origin: beside the end of its lever. */
const besideLever: Point = [0.018, -0.092, 0.043];

const manners: Readonly<Record<string, Omit<PushManner, "start"> & { readonly from: Point }>> = {
  "open cabinet": { from: behindHandle, direction: [1, 0, 0], done: (slide) => slide > 0.07, hover: 0.06 },
  "close cabinet": { from: beforeHandle, direction: [-1, 0, 0], done: (slide) => slide < 0.004, hover: 0.07 },
  "turnon stove": { from: besideLever, direction: [0, 1, 0], done: (angle) => angle > 0.7, hover: 0.05 },
};

export const tabletopKit: ExpertKit = {
  handling: { gain: 20, leastAction: 0, near: 0.014, exact: 0.01, stillSteps: 1 },
  handReach: 0.062,
  grasps: {
    red_cube: at(0.008),
    green_cube: at(0.008),
    blue_can: at(0.012),
    yellow_can: at(0.012),
    milk_carton: at(0.014),
    butter_box: at(0.004),
    // The middle of a wall: fingers straddle it along y.
    bowl: { offset: [0, 0.05, 0.024], eitherSide: true },
  },
  // A basket's walls are let alone by the opening fingers only from above; elsewhere a finger's breadth is enough.
  dropHeights: { contain_region: 0.016, bowl: 0.03, plate: 0.016 },
  defaultDropHeight: 0.012,
  hover: 0.07,
  lift: 0.085,
  push(goal, category, where) {
    const manner = manners[`${goal} ${category}`];
    return manner && { ...manner, start: (truth) => plus(where(truth), manner.from) };
  },
};
