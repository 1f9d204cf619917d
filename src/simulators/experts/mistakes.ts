/**
 * Errors that a scripted expert makes on purpose, once per episode, to show what failing looks like.
 *
 * A world model that has seen only successes imagines that every grasp holds. Missed grasps, misplaced drops and the
 * wrong object teach it otherwise.
 */
import type { Mt19937 } from "#random";
import type { Point } from "./expert.ts";

export interface MistakeOptions {
  /** Standard deviations of the grasp's and the drop's horizontal error, in meters. */
  readonly grasp: number;
  readonly place: number;
  /** Probability of taking another object than the goal speaks of. */
  readonly wrongObject: number;
}

/** The errors of one episode. */
export interface Mistakes {
  readonly grasp: Point;
  readonly place: Point;
  /** In [0, 1): which of the other objects to take; undefined for the right one. */
  readonly otherObject: number | undefined;
}

export const noMistakes: Mistakes = { grasp: [0, 0, 0], place: [0, 0, 0], otherObject: undefined };

export function drawMistakes({ grasp, place, wrongObject }: MistakeOptions, random: Mt19937): Mistakes {
  const error = (size: number): Point => [size * random.normal(), size * random.normal(), 0];
  const [graspError, placeError] = [error(grasp), error(place)];
  const wrong = random.double() < wrongObject;
  const choice = random.double();
  return { grasp: graspError, place: placeError, otherObject: wrong ? choice : undefined };
}
