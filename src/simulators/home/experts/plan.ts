/**
 * Turns the goal of a home's task into jobs, in an order that works: open, switch on, move things, close, lift.
 *
 * It reads the same BDDL as the predicates that judge success, so a new task of known things needs no new code. Each job is made
 * when its turn comes, from where things are then, and left out where its predicate holds.
 */
import type { Predicate } from "#engine";
import { UserError } from "#registry";
import { beside, downAt, into, onTopOf, onto } from "./destinations.ts";
import { closeDrawer, openDrawer, pressButton, pushPlate, turnLever } from "./fixtures.ts";
import { isGraspable } from "./grasps.ts";
import { handOver } from "./hand-over.ts";
import type { HomeTruth } from "./home-truth.ts";
import { type Job, type MakeJob, moveJob, soloJob } from "./jobs.ts";
import { liftTray } from "./lift-tray.ts";

const order = ["open", "turnon", "on", "in", "stacked", "nextto", "apart", "inrighthand", "close", "lifted"];
/** A drawer that is open less than this, in meters, must be opened before something goes into it. */
const enough = 0.08;
/** Where a thing waits that is in the way. */
const spare = [0.3, 0] as const;

export function planJobs(truth: HomeTruth): MakeJob[] {
  const { goal } = truth.world.scene.task;
  const sorted = goal.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  return sorted.flatMap((predicate) => {
    const holds = () => truth.holds(predicate.name, ...predicate.args);
    return makersFor(truth, predicate).map(
      (make): MakeJob =>
        () =>
          holds() ? undefined : make(),
    );
  });
}

function makersFor(truth: HomeTruth, predicate: Predicate): MakeJob[] {
  const [first = "", second = ""] = predicate.args;
  const thing = confuse(truth, first);
  switch (predicate.name) {
    case "open":
      return [() => drawerJob(truth, first, openDrawer)];
    case "close":
      return [() => drawerJob(truth, first, closeDrawer)];
    case "turnon":
      return [() => switchJob(truth, first)];
    case "on":
      if (truth.world.scene.regions.get(second)?.parent === undefined)
        return [() => pushJob(truth, first, second)];
      return [() => clearJob(truth, first, second), () => moveJob(truth, thing, onto(truth, thing, second))];
    case "in":
      return [() => accessJob(truth, second), () => moveJob(truth, thing, into(truth, thing, second))];
    case "stacked":
      return [() => moveJob(truth, thing, onTopOf(truth, thing, second))];
    case "nextto":
      return [() => moveJob(truth, thing, beside(truth, thing, second))];
    case "apart":
      return apart(truth, first, second);
    case "inrighthand":
      return [() => ({ run: () => handOver(truth, first) })];
    case "lifted":
      return [() => ({ run: () => liftTray(truth, first) })];
    default:
      throw new UserError(
        `no scripted expert for ${truth.world.scene.task.file}: nobody knows how to make (${predicate.name} ${predicate.args.join(" ")}) true`,
      );
  }
}

/** The thing to take: the right one, or by mistake another that can be grasped. */
function confuse(truth: HomeTruth, right: string): string {
  const { otherObject } = truth.mistakes;
  if (otherObject === undefined) return right;
  const others = truth.objects.filter(({ name, category }) => name !== right && isGraspable(category));
  return others[Math.floor(otherObject * others.length)]?.name ?? right;
}

type DrawerMove = typeof openDrawer;

function drawerJob(truth: HomeTruth, region: string, move: DrawerMove): Job {
  const { parent = "" } = truth.world.scene.regions.get(region)!;
  const at = truth.site(`${parent}_handle`);
  const side = at[1] > 0 ? "left" : "right";
  return soloJob(truth, side, [at], () => move(truth, truth.hands[side], parent));
}

/** What goes into a closed drawer needs it opened first. */
function accessJob(truth: HomeTruth, region: string): Job | undefined {
  const { joints } = truth.world.scene.regions.get(region)!;
  const shut = joints.some((joint) => truth.joint(joint) < enough);
  return shut ? drawerJob(truth, region, openDrawer) : undefined;
}

function switchJob(truth: HomeTruth, name: string): Job {
  const at = truth.at(name);
  const side = at[1] > 0 ? "left" : "right";
  const move = truth.object(name).category === "stove" ? turnLever : pressButton;
  return soloJob(truth, side, [at], () => move(truth, truth.hands[side], name));
}

/** Into a zone on the right of the counter, past its edge. */
function pushJob(truth: HomeTruth, plate: string, zone: string): Job {
  const edge = truth.site(zone)[1] + truth.world.scene.regions.get(zone)!.size[1];
  const at = truth.at(plate);
  return soloJob(truth, "left", [at, [at[0], edge, at[2]]], () =>
    pushPlate(truth, truth.hands.left, plate, edge),
  );
}

/** Another thing that stands where this one should. */
function clearJob(truth: HomeTruth, thing: string, region: string): Job | undefined {
  const inTheWay = truth.objects.find(
    ({ name, category }) => name !== thing && isGraspable(category) && truth.holds("on", name, region),
  );
  return inTheWay && moveJob(truth, inTheWay.name, downAt(truth, inTheWay.name, ...spare));
}

/** The one on the right first, so that the left hand has room. */
function apart(truth: HomeTruth, one: string, other: string): MakeJob[] {
  const [right, left] = truth.at(one)[1] < truth.at(other)[1] ? [one, other] : [other, one];
  const job =
    (thing: string, y: number): MakeJob =>
    () =>
      Math.abs(truth.at(thing)[1] - y) < 0.05
        ? undefined
        : moveJob(truth, thing, downAt(truth, thing, 0.31, y));
  return [job(right, -0.4), job(left, 0.28)];
}
