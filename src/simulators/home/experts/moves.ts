/**
 * What one hand does for a while: each move is a generator of actions that looks at the truth at every step.
 *
 * A move returns whether it got there; it gives up after a number of steps rather than never.
 */
import type { Point } from "../../experts/expert.ts";
import { clamp, distance, flatDistance } from "../../experts/motion.ts";
import type { Grip, Hand, HandAction, Rotation } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";

export type Move = Generator<HandAction, boolean, void>;

export const full = 1;
export const careful = 0.45; // near things

export interface ReachOptions {
  readonly rotation?: Rotation;
  readonly grip?: Grip;
  readonly speed?: number;
  /** Meters that count as there. */
  readonly near?: number;
  readonly limit?: number;
}

export function* reach(hand: Hand, place: () => Point, options: ReachOptions = {}): Move {
  const { grip = -1, speed = full, near = 0.008, limit = 60, rotation = hand.aimRotation } = options;
  for (let step = 0; step < limit; step++) {
    const to = place();
    if (distance(to, hand.at) < near && hand.turnTo(rotation) < 0.08) return true;
    yield hand.towards(to, rotation, grip, speed);
  }
  return false;
}

/** To a place relative to where the hand is now. */
export function shift(hand: Hand, by: Point, options: ReachOptions = {}): Move {
  const [x, y, z] = hand.at;
  return reach(hand, () => [x + by[0], y + by[1], z + by[2]], { near: 0.03, limit: 15, ...options });
}

export interface FunnelOptions {
  readonly rotation: Rotation;
  readonly grip?: Grip;
  /** How far above to come in. */
  readonly height?: number;
  readonly near?: number;
}

/** Comes in above a place and goes down where the hand is over it and turned right: no stop in between. */
export function* funnel(truth: HomeTruth, hand: Hand, place: () => Point, options: FunnelOptions): Move {
  const { rotation, grip = -1, height = 0.09, near = 0.006 } = options;
  const safe = truth.safeHeight;
  for (let step = 0; step < 80; step++) {
    const [to, at, turn] = [place(), hand.at, hand.turnTo(rotation)];
    const flat = flatDistance(to, at);
    if (distance(to, at) < near && turn < 0.08) return true;
    const open = clamp(Math.max((flat - 0.006) / 0.03, (turn - 0.1) / 0.15), 0, 1);
    const above = Math.max(height, safe - to[2]) * open;
    const rising = at[2] < safe - 0.03 && flat > 0.08; // first up, over what is tall
    const close = at[2] - to[2] < 0.06 && flat < 0.04;
    const next: Point = rising ? [at[0], at[1], safe] : [to[0], to[1], to[2] + above];
    yield hand.towards(next, rotation, grip, close ? careful : full);
  }
  return false;
}

/** Closes where the hand is, until the fingers stand still; pulls back to that pose if noise moves it. */
export function* squeeze(hand: Hand): Move {
  const [place, rotation] = [hand.aim, hand.aimRotation];
  let last = hand.opening;
  for (let step = 1; step <= 10; step++) {
    yield hand.towards(place, rotation, 1);
    const now = hand.opening;
    if (step >= 3 && Math.abs(now - last) < 0.0006) return true;
    last = now;
  }
  return true;
}

/** Opens until both pads are off: leaving earlier drags the thing along. */
export function* release(hand: Hand): Move {
  const [place, rotation, start] = [hand.aim, hand.aimRotation, hand.opening];
  for (let step = 0; step < 8; step++) {
    yield hand.towards(place, rotation, -1);
    if (hand.opening > start + 0.012) return true;
  }
  return false;
}

/** Keeps its pose. */
export function* stay(hand: Hand, steps: number, grip: Grip): Move {
  const [place, rotation] = [hand.aim, hand.aimRotation];
  for (let step = 0; step < steps; step++) yield hand.towards(place, rotation, grip);
  return true;
}

/** Out of the other hand's way. */
export function aside(hand: Hand): Move {
  const [x, y, z] = hand.at;
  const place: Point = [Math.min(x, 0.34), hand.outward * Math.max(0.36, Math.abs(y)), Math.max(z, 1.1)];
  return reach(hand, () => place, { near: 0.02, limit: 25 });
}
