/**
 * The few rotations that placement needs, rounded where robosuite rounds.
 *
 * Its quaternion product and its quaternion-to-matrix conversion work in single precision; poses drawn without that are
 * off by 1e-8, which is enough to change a stored state.
 */
import { exactCos, exactSin } from "./exact-trig.ts";
import type { Axis, Quaternion, Vector3 } from "./pack.ts";

/** x, y, z, w. */
export type ScalarLast = readonly [x: number, y: number, z: number, w: number];

export function turn(axis: Axis, angle: number): ScalarLast {
  const [sine, cosine] = [exactSin(angle / 2), exactCos(angle / 2)];
  return [axis === "x" ? sine : 0, axis === "y" ? sine : 0, axis === "z" ? sine : 0, cosine];
}

/** The first turn is applied first. */
export const composeRotations = (turns: readonly ScalarLast[]): ScalarLast =>
  turns.reduce((sofar, next) => multiply(next, sofar), [0, 0, 0, 1] as ScalarLast);

function multiply([x1, y1, z1, w1]: ScalarLast, [x0, y0, z0, w0]: ScalarLast): ScalarLast {
  return [
    Math.fround(x1 * w0 + y1 * z0 - z1 * y0 + w1 * x0),
    Math.fround(-x1 * z0 + y1 * w0 + z1 * x0 + w1 * y0),
    Math.fround(x1 * y0 - y1 * x0 + z1 * w0 + w1 * z0),
    Math.fround(-x1 * x0 - y1 * y0 - z1 * z0 + w1 * w0),
  ];
}

export function rotateBy(quaternion: Quaternion, [x, y, z]: Vector3): Vector3 {
  const row = matrixOf(quaternion);
  return [
    row[0]! * x + row[1]! * y + row[2]! * z,
    row[3]! * x + row[4]! * y + row[5]! * z,
    row[6]! * x + row[7]! * y + row[8]! * z,
  ];
}

/** Row-major. Components, products and off-diagonal sums are single precision; the diagonal is double. */
function matrixOf(quaternion: Quaternion): number[] {
  const single = quaternion.map(Math.fround);
  const norm = Math.fround(single.reduce((sum, q) => sum + Math.fround(q * q), 0));
  if (norm < 4 * Number.EPSILON) return [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const scale = Math.sqrt(2 / norm);
  const [w = 0, x = 0, y = 0, z = 0] = single.map((q) => Math.fround(q * scale));
  const p = (a: number, b: number) => Math.fround(a * b);
  const plus = (a: number, b: number) => Math.fround(a + b);
  return [
    1 - p(y, y) - p(z, z),
    plus(p(x, y), -p(z, w)),
    plus(p(x, z), p(y, w)),
    plus(p(x, y), p(z, w)),
    1 - p(x, x) - p(z, z),
    plus(p(y, z), -p(x, w)),
    plus(p(x, z), -p(y, w)),
    plus(p(y, z), p(x, w)),
    1 - p(x, x) - p(y, y),
  ];
}
