/** What hands do with the home's fixtures: a drawer, a radio's button, a stove's lever. And pushing a plate. Lengths in meters. */
import type { Point } from "../../experts/expert.ts";
import { plus } from "../../experts/motion.ts";
import { counterHeight } from "../robot.ts";
import { fingersDown, type Hand } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";
import { type FunnelOptions, funnel, type Move, shift } from "./moves.ts";

interface Push {
  /** Where closed fingers begin. */
  readonly from: () => Point;
  readonly approach: FunnelOptions;
  /** Where they go next, at every step, until the push is done. */
  readonly towards: () => Point;
  readonly speed: number;
  readonly pushed: () => boolean;
  readonly leave: Point;
  /** Whether it stays so. */
  readonly done: () => boolean;
}

const straight = fingersDown();

function* push(truth: HomeTruth, hand: Hand, { approach, ...how }: Push): Move {
  const { rotation } = approach;
  for (let attempt = 0; attempt < 3; attempt++) {
    yield* funnel(truth, hand, how.from, { grip: 1, ...approach });
    for (let step = 0; step < 50 && !how.pushed(); step++)
      yield hand.towards(how.towards(), rotation, 1, how.speed);
    yield* shift(hand, how.leave, { rotation, grip: 1 });
    if (how.done()) return true;
  }
  return false;
}

/** Closed fingers hook between the bar and the front from above. */
export function openDrawer(truth: HomeTruth, hand: Hand, cabinet: string): Move {
  const handle = () => truth.site(`${cabinet}_handle`);
  const slide = () => truth.joint(`${cabinet}_drawer_slide`);
  return push(truth, hand, {
    from: () => plus(handle(), [0, 0, 0.004]),
    approach: { rotation: straight, height: 0.1, near: 0.01 },
    towards: () => plus(handle(), [-0.045, 0, 0.004]),
    speed: 0.7,
    pushed: () => slide() > 0.145,
    leave: [0.01, 0, 0.1],
    done: () => slide() > 0.135,
  });
}

export function closeDrawer(truth: HomeTruth, hand: Hand, cabinet: string): Move {
  const handle = () => truth.site(`${cabinet}_handle`);
  const slide = () => truth.joint(`${cabinet}_drawer_slide`);
  return push(truth, hand, {
    from: () => plus(handle(), [-0.065, 0, -0.002]),
    approach: { rotation: straight, height: 0.1, near: 0.015 },
    towards: () => [hand.at[0] + 0.05, handle()[1], handle()[2]],
    speed: 0.7,
    pushed: () => slide() < 0.003,
    leave: [-0.03, 0, 0.05],
    done: () => slide() < 0.006,
  });
}

export function pressButton(truth: HomeTruth, hand: Hand, radio: string): Move {
  const top = () => truth.site(`${radio}_button_top`);
  const slide = () => truth.joint(`${radio}_button_slide`);
  return push(truth, hand, {
    from: () => plus(top(), [0, 0, 0.025]),
    approach: { rotation: straight, height: 0.05, near: 0.012 },
    towards: () => [top()[0], top()[1], hand.at[2] - 0.03],
    speed: 0.5,
    pushed: () => slide() > 0.014,
    leave: [0, 0, 0.06],
    done: () => slide() > 0.011,
  });
}

export function turnLever(truth: HomeTruth, hand: Hand, stove: string): Move {
  const angle = () => truth.joint(`${stove}_knob_hinge`);
  const beside = (along: Point) => truth.onBody(`${stove}_knob`, along);
  return push(truth, hand, {
    from: () => beside([-0.036, 0.034, 0.034]),
    approach: { rotation: straight, near: 0.012 },
    towards: () => beside([-0.034, -0.02, 0.034]),
    speed: 0.4,
    pushed: () => angle() > 0.9,
    leave: [0, 0, 0.08],
    done: () => angle() > 0.55,
  });
}

/** With the hand turned, so that its fingers stand one behind the other: to the right, until the plate's middle is at `y`. */
export function pushPlate(truth: HomeTruth, hand: Hand, plate: string, y: number): Move {
  const height = counterHeight + 0.016;
  return push(truth, hand, {
    from: () => [truth.at(plate)[0], truth.at(plate)[1] + 0.115, height],
    approach: { rotation: fingersDown(Math.PI / 2), near: 0.012 },
    towards: () => [truth.at(plate)[0], hand.at[1] - 0.03, height],
    speed: 0.5,
    pushed: () => truth.at(plate)[1] < y - 0.012,
    leave: [0, 0.03, 0.08],
    done: () => truth.at(plate)[1] < y - 0.002,
  });
}
