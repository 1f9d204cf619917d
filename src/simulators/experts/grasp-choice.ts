/**
 * Chooses where to take hold of an object so that the hand, which is wide between its fingers, has room.
 *
 * On a table the fingers open along y and the hand shuns other things. A round object in a drawer is taken on the side
 * where the drawer leaves most room, with the hand turned that way.
 */
import type { Point } from "./expert.ts";
import type { GraspManner } from "./kit.ts";
import { halfTurn } from "./motion.ts";

/** Something to keep away from, as an upright cylinder. */
export interface Obstacle {
  readonly at: Point;
  readonly radius: number;
}

/** The inside of a drawer: a box with the columns of a row-major matrix as axes. */
export interface Container {
  readonly at: Point;
  readonly axes: Float64Array;
  readonly size: Point; // half extents
}

export interface Grasp {
  /** From the object's origin to the grip site. */
  readonly offset: Point;
  /** Of the line between the fingers, from the y axis about z. */
  readonly turn: number;
}

/** More room than this, in meters, makes a grasp no better. */
const enoughRoom = 0.02;

/** @param handReach from the grip site to either end of the hand, along y. */
export function chooseGrasp(
  manner: GraspManner,
  object: Point,
  others: readonly Obstacle[],
  handReach: number,
): Grasp {
  let best = manner.offset;
  let mostRoom = Number.NEGATIVE_INFINITY;
  for (const offset of candidates(manner)) {
    const room = Math.min(enoughRoom, ...others.map((other) => roomBeside(object, offset, other, handReach)));
    if (room <= mostRoom) continue; // the first of equals: candidates come in order of preference
    best = offset;
    mostRoom = room;
  }
  return { offset: best, turn: 0 };
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

/** Along the container's longer horizontal axis, towards the wall that is farther from the object. */
export function chooseGraspInside({ offset }: GraspManner, object: Point, container: Container): Grasp {
  const axis = longerHorizontalAxis(container);
  const [x, y] = [container.axes[axis]!, container.axes[3 + axis]!];
  const along = (object[0] - container.at[0]) * x + (object[1] - container.at[1]) * y;
  const reach = along > 0 ? -offset[1] : offset[1];
  return { offset: [x * reach, y * reach, offset[2]], turn: halfTurn(Math.atan2(y, x) - Math.PI / 2) };
}

function longerHorizontalAxis({ axes, size }: Container): number {
  const steepness = [0, 1, 2].map((axis) => Math.abs(axes[6 + axis]!));
  const upright = steepness.indexOf(Math.max(...steepness));
  const flat = [0, 1, 2].filter((axis) => axis !== upright);
  return size[flat[0]!]! >= size[flat[1]!]! ? flat[0]! : flat[1]!;
}

export function isInside(object: Point, { at, axes, size }: Container): boolean {
  return [0, 1, 2].every((axis) => {
    const along = [0, 1, 2].reduce((sum, row) => sum + (object[row]! - at[row]!) * axes[3 * row + axis]!, 0);
    return Math.abs(along) < size[axis]! + 0.02;
  });
}
