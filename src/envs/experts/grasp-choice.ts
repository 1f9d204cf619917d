/** Chooses where to take hold of an object so that the hand, which is wide along y, has room beside other things. */
import type { Point } from "./expert.ts";
import type { GraspManner } from "./kit.ts";

/** Something to keep away from, as an upright cylinder. */
export interface Obstacle {
  readonly at: Point;
  readonly radius: number;
}

/** More room than this, in metres, makes a grasp no better. */
const enoughRoom = 0.02;

/** @param handReach from the grip site to either end of the hand, along y. */
export function chooseGrasp(
  manner: GraspManner,
  object: Point,
  others: readonly Obstacle[],
  handReach: number,
): Point {
  let best = manner.offset;
  let mostRoom = Number.NEGATIVE_INFINITY;
  for (const offset of candidates(manner)) {
    const room = Math.min(enoughRoom, ...others.map((other) => roomBeside(object, offset, other, handReach)));
    if (room <= mostRoom) continue; // the first of equals: candidates come in order of preference
    best = offset;
    mostRoom = room;
  }
  return best;
}

function candidates({ offset, eitherSide = false, slack = 0 }: GraspManner): Point[] {
  const [x, y, z] = offset;
  const shifts = slack > 0 ? [0, slack / 2, -slack / 2, slack, -slack] : [0];
  const sides = eitherSide ? [y, -y] : [y];
  return shifts.flatMap((shift) => sides.map((side): Point => [x + shift, side, z]));
}

/** From the hand, a line along y, to the obstacle's surface. */
function roomBeside(object: Point, offset: Point, { at, radius }: Obstacle, handReach: number): number {
  const beyond = Math.max(0, Math.abs(object[1] + offset[1] - at[1]) - handReach);
  return Math.hypot(object[0] + offset[0] - at[0], beyond) - radius;
}
