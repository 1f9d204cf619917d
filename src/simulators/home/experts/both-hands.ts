/** Puts the moves of single hands together: at the same time, or one hand working while the other keeps out of its way. */
import { type Side, sides } from "#engine";
import type { Grip, HandAction } from "./hand.ts";
import type { HomeTruth } from "./home-truth.ts";
import { aside, type Move } from "./moves.ts";

export type HandActions = Partial<Record<Side, HandAction>>;
/** What both hands do; a hand without an action keeps its pose. */
export type Duet = Generator<HandActions, void, void>;

export const otherSide = (side: Side): Side => (side === "left" ? "right" : "left");

/** Moves at once; the hand that is done first waits. */
export function* together(moves: Partial<Record<Side, Move>>): Duet {
  const going = { ...moves };
  for (;;) {
    const actions: HandActions = {};
    for (const side of sides) {
      const { value, done = true } = going[side]?.next() ?? {};
      if (done) delete going[side];
      else actions[side] = value as HandAction;
    }
    if (Object.keys(actions).length === 0) return;
    yield actions;
  }
}

/** One hand moves and the other keeps its pose and its grip for as long. */
export function* whileHolding(truth: HomeTruth, side: Side, move: Move, grip: Grip): Duet {
  const other = truth.hands[otherSide(side)];
  const [place, rotation] = [other.aim, other.aimRotation];
  for (const action of move) yield { [side]: action, [other.side]: other.towards(place, rotation, grip) };
}

export const alone = (truth: HomeTruth, side: Side, move: Move): Duet =>
  together({ [side]: move, [otherSide(side)]: aside(truth.hands[otherSide(side)]) });
