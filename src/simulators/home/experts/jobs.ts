/** Work for the robot's hands: by one of them, by both at once where they do not meet, or by both together. */
import type { Side } from "#engine";
import type { Point } from "../../experts/expert.ts";
import { alone, type Duet, together } from "./both-hands.ts";
import { carry, type Destination, put } from "./carry.ts";
import { fingersDown } from "./hand.ts";
import { handOver } from "./hand-over.ts";
import type { HomeTruth } from "./home-truth.ts";
import { aside, type Move, reach } from "./moves.ts";

export interface Job {
  /** Of one hand, which may work beside the other; absent: it needs both. */
  readonly solo?: { readonly side: Side; readonly move: () => Move; readonly places: readonly Point[] };
  run(): Duet;
}

/** Made when its turn comes, from where things are then; none where there is nothing to do. */
export type MakeJob = () => Job | undefined;

/** Two palms need 13 cm along y. */
const elbowRoom = 0.15;

/** Jobs one after another, two at once where the hands stay apart. */
export function* perform(makers: readonly MakeJob[]): Duet {
  for (let i = 0; i < makers.length; i++) {
    const job = makers[i]!();
    if (!job) continue;
    let next = i + 1;
    let second: Job | undefined;
    while (next < makers.length && !(second = makers[next]!())) next++;
    const pair = pairOf(job, second);
    yield* pair ?? job.run();
    if (pair) i = next;
  }
}

function pairOf(one: Job, two: Job | undefined): Duet | undefined {
  const jobs = { [one.solo?.side ?? ""]: one.solo, [two?.solo?.side ?? ""]: two?.solo };
  const { left, right } = jobs;
  if (!left || !right) return undefined;
  const [least, most] = [
    Math.min(...left.places.map(([, y]) => y)),
    Math.max(...right.places.map(([, y]) => y)),
  ];
  return least - most > elbowRoom ? together({ left: left.move(), right: right.move() }) : undefined;
}

export const soloJob = (truth: HomeTruth, side: Side, places: readonly Point[], move: () => Move): Job => ({
  solo: { side, move, places },
  run: () => alone(truth, side, move()),
});

/** Carries a thing; by way of the other hand where no arm reaches both ends. */
export function moveJob(truth: HomeTruth, thing: string, to: Destination): Job {
  const [from, goal] = [truth.at(thing), to.place()];
  if (from[1] > 0.15 && goal[1] < -0.15) return { run: () => passOn(truth, thing, to) };
  const side = sideFor(from, goal);
  return soloJob(truth, side, [from, goal], () => carry(truth, truth.hands[side], thing, to));
}

/** The arm that reaches all places: each ends 15 cm beyond the middle. */
function sideFor(...places: readonly Point[]): Side {
  const ys = places.map(([, y]) => y);
  const [least, most] = [Math.min(...ys), Math.max(...ys)];
  if (least < -0.14 && most < 0.14) return "right";
  if (most > 0.14 && least > -0.14) return "left";
  const telling = ys.find((y) => Math.abs(y) > 0.05) ?? ys[0]!;
  return telling > 0 ? "left" : "right";
}

function* passOn(truth: HomeTruth, thing: string, to: Destination): Duet {
  const { left, right } = truth.hands;
  yield* handOver(truth, thing);
  const down = fingersDown();
  const over = reach(right, () => [0.36, -0.22, 1.16], { rotation: down, grip: 1, near: 0.03, limit: 40 });
  yield* together({ left: aside(left), right: over });
  yield* together({ right: put(truth, right, thing, to, down) });
}
