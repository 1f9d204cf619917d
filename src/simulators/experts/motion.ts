/** Small moves that skills are made of. */
import type { Action, Handling, Point } from "./expert.ts";

export const distance = (a: Point, b: Point): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
export const flatDistance = (a: Point, b: Point): number => Math.hypot(a[0] - b[0], a[1] - b[1]);
export const plus = (a: Point, b: Point): Point => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const clamp = (value: number, low: number, high: number): number =>
  Math.min(high, Math.max(low, value));

/** A gripper looks the same rotated 180°: the angle brought into [-π/2, π/2). */
export const halfTurn = (angle: number): number => angle - Math.PI * Math.floor(angle / Math.PI + 0.5);

/** Moves straight towards a point; `sideways` below 1 slows the horizontal part. */
export function moveTowards(
  from: Point,
  to: Point,
  gripper: -1 | 1,
  { gain, leastAction, exact }: Handling,
  sideways = 1,
): Action {
  const action = new Float64Array(7);
  const slope = (error: number) => (error > exact / 2 ? Math.max(gain, leastAction / error) : gain);
  const [flatSlope, upSlope] = [slope(flatDistance(from, to)), slope(Math.abs(to[2] - from[2]))];
  for (const axis of [0, 1]) action[axis] = (to[axis]! - from[axis]!) * flatSlope;
  // The direction is kept where the speed is cut: clipping each axis alone would bend the path.
  const flat = Math.max(1, Math.abs(action[0]!), Math.abs(action[1]!)) / sideways;
  action[0]! /= flat;
  action[1]! /= flat;
  action[2] = clamp((to[2] - from[2]) * upSlope, -1, 1);
  action[6] = gripper;
  return action;
}

export function stay(gripper: -1 | 1): Action {
  const action = new Float64Array(7);
  action[6] = gripper;
  return action;
}

/**
 * A way down that narrows: far from the axis through `to` stay at `height` above it, close to it come down. Approaching
 * along this funnel neither stops above the target nor pushes it over.
 */
export function funnel(
  from: Point,
  to: Point,
  height: number,
  mouth: { inner: number; outer: number },
): Point {
  const away = (flatDistance(from, to) - mouth.inner) / (mouth.outer - mouth.inner);
  return [to[0], to[1], to[2] + height * clamp(away, 0, 1)];
}
