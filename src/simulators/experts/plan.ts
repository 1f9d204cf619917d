/**
 * Turns the goal of a task into skills, in an order that works: open, switch on, move things, close.
 *
 * It reads the same BDDL as the predicates that judge success, so a new task of known things needs no new code.
 */
import type { Predicate, Scene, SceneObject } from "#engine";
import { UserError } from "#registry";
import type { GroundTruth, Point, Skill } from "./expert.ts";
import {
  type Container,
  chooseGrasp,
  chooseGraspInside,
  type Grasp,
  isInside,
  type Obstacle,
} from "./grasp-choice.ts";
import type { ExpertKit, JointGoal } from "./kit.ts";
import { type Mistakes, noMistakes } from "./mistakes.ts";
import { plus } from "./motion.ts";
import { MoveObject } from "./move-object.ts";
import { PushJoint } from "./push-joint.ts";

const order = ["open", "turnon", "turnoff", "on", "in", "close"];

/** Two things for one container are put this far to either side of its middle, along x: fingers open along y. */
const spread = 0.03;

export function planSkills(scene: Scene, kit: ExpertKit, mistakes: Mistakes = noMistakes): Skill[] {
  const goals = scene.task.goal.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  return goals.map((goal) => {
    if (goal.name === "on" || goal.name === "in") return moveSkill(scene, kit, goal, mistakes);
    return pushSkill(scene, kit, goal);
  });
}

function moveSkill(scene: Scene, kit: ExpertKit, goal: Predicate, mistakes: Mistakes): Skill {
  const [name = "", support = ""] = goal.args;
  const right = objectNamed(scene, name, goal);
  const object = confuse(scene, kit, right, mistakes);
  const manner = kit.grasps[object.category];
  if (!manner) throw unsolvable(scene, goal, `how to grasp a ${object.category}`);
  const destination = destinationOf(scene, kit, object, goal, support);
  const { handling, hover, lift } = kit;
  return new MoveObject({
    body: object.rootBody,
    graspOf: (position, truth) => {
      const grasp = graspFor(scene, kit, object, position, truth);
      return { ...grasp, offset: plus(grasp.offset, mistakes.grasp) };
    },
    opening: manner.opening,
    destination: (truth) => plus(destination(truth), mistakes.place),
    hover,
    lift,
    handling,
  });
}

function graspFor(scene: Scene, kit: ExpertKit, object: SceneObject, at: Point, truth: GroundTruth): Grasp {
  const manner = kit.grasps[object.category]!;
  const drawer = manner.eitherSide && drawers(scene, truth).find((container) => isInside(at, container));
  if (drawer) return chooseGraspInside(manner, at, drawer);
  return chooseGrasp(manner, at, others(scene, object, truth), kit.handReach);
}

/** Regions that move with a joint. */
const drawers = (scene: Scene, truth: GroundTruth): Container[] =>
  [...scene.regions.values()]
    .filter(({ joints }) => joints.length > 0)
    .map(({ name, size }) => ({ at: truth.sitePosition(name), axes: truth.siteAxes(name), size }));

/** What the hand must keep away from, as upright cylinders. */
const others = (scene: Scene, object: SceneObject, truth: GroundTruth): Obstacle[] =>
  scene.objects
    .filter((other) => other !== object)
    .map(({ rootBody, fixture }) => ({ at: truth.bodyPosition(rootBody), radius: fixture ? 0.13 : 0.05 }));

/** The object to take: the right one, or by mistake another that the kit can grasp. */
function confuse(scene: Scene, kit: ExpertKit, right: SceneObject, { otherObject }: Mistakes): SceneObject {
  if (otherObject === undefined) return right;
  const others = scene.objects.filter(({ name, category }) => name !== right.name && kit.grasps[category]);
  return others[Math.floor(otherObject * others.length)] ?? right;
}

function destinationOf(scene: Scene, kit: ExpertKit, object: SceneObject, goal: Predicate, support: string) {
  const region = scene.regions.get(support);
  const owner = objectNamed(scene, region?.parent ?? support, goal);
  const aside = besides(scene, goal, support);
  const drop = kit.dropHeights[region ? support.slice(owner.name.length + 1) : owner.category];
  const above = (drop ?? kit.defaultDropHeight) - object.bottom;
  // The floor of a region that holds things; the surface of one that carries them.
  const floor = region && goal.name === "in" ? -region.size[2] : 0;
  return (truth: GroundTruth): Point => {
    const origin = region ? truth.sitePosition(region.name) : truth.bodyPosition(owner.rootBody);
    return plus(origin, [aside, 0, floor + above]);
  };
}

function besides(scene: Scene, goal: Predicate, support: string): number {
  const together = scene.task.goal.filter(({ args }) => args[1] === support);
  if (together.length < 2) return 0;
  return spread * (1 - 2 * together.indexOf(goal));
}

function pushSkill(scene: Scene, kit: ExpertKit, goal: Predicate): Skill {
  const [name = ""] = goal.args;
  const region = scene.regions.get(name);
  const object = objectNamed(scene, region?.parent ?? name, goal);
  const [joint = ""] = region?.joints ?? object.joints;
  const where = (truth: GroundTruth) =>
    region ? truth.sitePosition(region.name) : truth.bodyPosition(object.rootBody);
  const push = kit.push(goal.name as JointGoal, object.category, where);
  if (!push) throw unsolvable(scene, goal, `how to ${goal.name} a ${object.category}`);
  return new PushJoint({ ...push, joint, handling: kit.handling });
}

function objectNamed(scene: Scene, name: string, goal: Predicate): SceneObject {
  const found = scene.objects.find((object) => object.name === name);
  if (!found) throw unsolvable(scene, goal, `what "${name}" is`);
  return found;
}

const unsolvable = (scene: Scene, goal: Predicate, what: string): UserError =>
  new UserError(
    `no scripted expert for ${scene.task.file}: (${goal.name} ${goal.args.join(" ")}) needs to know ${what}`,
  );
