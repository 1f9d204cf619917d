/** Both hands take the grip plates of a tray, close at once and go up slowly, so that nothing slides off. */
import { sides } from "#engine";
import { plus } from "../../experts/motion.ts";
import { type Duet, type HandActions, together } from "./both-hands.ts";
import { wrap } from "./grasps.ts";
import { fingersDown, type Hand } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";
import { funnel, type Move, release, squeeze } from "./moves.ts";

const speed = 0.35;
const height = 0.15; // meters

export function* liftTray(truth: HomeTruth, tray: string): Duet {
  for (let attempt = 0; attempt < 3; attempt++) {
    const grip = (hand: Hand): Move => {
      const place = () => plus(truth.site(`${tray}_grip_${hand.side}`), [0, 0, 0.004]);
      const rotation = fingersDown(wrap(truth.heading(tray), Math.PI));
      return funnel(truth, hand, place, { rotation, near: 0.008 });
    };
    yield* inBoth(truth, grip);
    yield* inBoth(truth, squeeze);
    yield* raise(truth);
    if (truth.holds("lifted", tray)) return;
    yield* inBoth(truth, release);
  }
}

const inBoth = ({ hands: { left, right } }: HomeTruth, move: (hand: Hand) => Move): Duet =>
  together({ left: move(left), right: move(right) });

/** As far as it goes and a dozen steps longer: it must stay lifted. */
function* raise({ hands }: HomeTruth): Duet {
  const goals = sides.map((side) => ({
    side,
    up: plus(hands[side].at, [0, 0, height]),
    as: hands[side].aimRotation,
  }));
  for (let step = 0; step < 40; step++) {
    const actions: HandActions = {};
    for (const { side, up, as } of goals) actions[side] = hands[side].towards(up, as, 1, speed);
    yield actions;
  }
}
