/** The left hand takes a thing by its top, both hands turn to face each other, and the right hand takes it over. */
import type { Point } from "../../experts/expert.ts";
import { plus } from "../../experts/motion.ts";
import { type Duet, together, whileHolding } from "./both-hands.ts";
import { pick } from "./carry.ts";
import { graspOfTop } from "./grasps.ts";
import { fingersDown } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";
import { careful, type Move, reach, release, shift, squeeze, stay } from "./moves.ts";

/** Where both arms reach, fingers sideways. */
const meeting: Point = [0.4, 0, 1.15];
const facingRight = fingersDown(0, -Math.PI / 2);
const facingLeft = fingersDown(0, Math.PI / 2);

export function* handOver(truth: HomeTruth, thing: string): Duet {
  const { left, right } = truth.hands;
  for (let attempt = 0; attempt < 3; attempt++) {
    const ready = reach(right, () => plus(meeting, [0, -0.14, 0]), { rotation: facingLeft, near: 0.02 });
    yield* together({ left: offer(truth, thing), right: ready });
    yield* whileHolding(truth, "right", take(truth, thing), 1);
    yield* together({ left: release(left), right: stay(right, 2, 1) });
    yield* together({
      left: shift(left, [0, 0.14, 0], { rotation: facingRight, near: 0.02, limit: 30 }),
      right: stay(right, 8, 1),
    });
    if (truth.holds("inrighthand", thing)) return;
    const home = (y: number) =>
      reach(y > 0 ? left : right, () => [0.34, y, 1.15], { rotation: fingersDown(), near: 0.02 });
    yield* together({ left: home(0.3), right: home(-0.3) });
  }
}

function* offer(truth: HomeTruth, thing: string): Move {
  const { left } = truth.hands;
  const lift = truth.safeHeight > 0 ? 0.18 : 0.14;
  if (!(yield* pick(truth, left, thing, { lift, grasp: () => graspOfTop(truth, thing) }))) return false;
  const place = plus(meeting, [0, 0.03, 0]);
  return yield* reach(left, () => place, { rotation: facingRight, grip: 1, near: 0.012, limit: 50 });
}

/** Below the giving hand, which lies along the thing's own axis. */
function* take(truth: HomeTruth, thing: string): Move {
  const { right } = truth.hands;
  const below = (): Point => {
    const turn = truth.rotation(thing);
    return plus(truth.at(thing), [-0.016 * turn[2]!, -0.016 * turn[5]!, -0.016 * turn[8]!]);
  };
  yield* reach(right, below, { rotation: facingLeft, speed: careful, near: 0.009, limit: 40 });
  return yield* squeeze(right);
}
