/**
 * What a task's goal says about the world: on, in, open, close, turnon, turnoff, up, and what a pack adds.
 *
 * Each predicate is compiled once into a question without allocation. It reads body and site poses and
 * contacts as they were at the start of the last physics step and joint positions as they are now, because
 * nothing is recomputed at the end of a control step; LIBERO judges on the same stale picture.
 */
import type { Simulation } from "#mujoco";
import { UserError } from "#registry";
import type { BddlTask, Predicate } from "./bddl.ts";
import type { Articulation, CompilePredicate, JointCondition } from "./pack.ts";
import type { Scene } from "./scene.ts";
import type { SceneObject } from "./scene-object.ts";
import type { SceneRegion } from "./scene-region.ts";

export type Condition = () => boolean;

/** Names that a goal can use. */
export const predicateNames = [
  "true",
  "false",
  "on",
  "in",
  "up",
  "open",
  "close",
  "turnon",
  "turnoff",
] as const;

const largestOffset = 0.03; // meters between the centers of two stacked objects
const restingBand = [-0.005, 0.1] as const; // meters above the upper face of a region
const liftedHeight = 1.0; // meters

export class Predicates {
  readonly #scene: Scene;
  readonly #simulation: Simulation;
  readonly #owner: Int32Array; // geom id -> index of the scene's object, -1 for the rest
  readonly #ofPack: CompilePredicate | undefined;

  constructor(scene: Scene, simulation: Simulation) {
    this.#scene = scene;
    this.#simulation = simulation;
    this.#ofPack = scene.pack.predicates?.(scene, simulation);
    this.#owner = new Int32Array(simulation.model.sizes.ngeom!).fill(-1);
    for (const [index, object] of scene.objects.entries()) {
      for (const geom of object.contactGeoms) this.#owner[simulation.model.id("geom", geom)] = index;
    }
  }

  /** The task's goal: all of its predicates. */
  goal(task: BddlTask): Condition {
    const questions = task.goal.map((predicate) => this.compile(predicate, task.file));
    return () => questions.every((holds) => holds());
  }

  compile(predicate: Predicate, file: string): Condition {
    const { name, args, line } = predicate;
    const fail = (what: string): never => {
      throw new UserError(`${file}:${line}: (${name} ${args.join(" ")}): ${what}`);
    };
    const [first = "", second = ""] = args;
    const own = this.#ofPack?.(predicate, fail);
    if (own) return own;
    switch (name) {
      case "true":
        return () => true;
      case "false":
        return () => false;
      case "up":
        return this.#up(first, fail);
      case "on":
      case "in":
        return this.#placed(name, first, second, fail);
      case "open":
      case "close":
      case "turnon":
      case "turnoff":
        return this.#articulated(name, first, fail);
      default:
        return fail(`there is no such predicate; there are: ${predicateNames.join(", ")}`);
    }
  }

  /** Whether any collision geom of one object touches any of the other. */
  touching(a: SceneObject, b: SceneObject): boolean {
    const [first, second] = [this.#scene.objects.indexOf(a), this.#scene.objects.indexOf(b)];
    const pairs = this.#simulation.contactPairs();
    for (let i = 0; i < pairs.length; i += 2) {
      const [one, two] = [this.#owner[pairs[i]!]!, this.#owner[pairs[i + 1]!]!];
      if ((one === first && two === second) || (one === second && two === first)) return true;
    }
    return false;
  }

  #placed(name: "on" | "in", first: string, second: string, fail: (what: string) => never): Condition {
    const thing = this.#object(first) ?? fail(`"${first}" is not an object`);
    const region = this.#scene.regions.get(second);
    if (region) return name === "on" ? this.#onRegion(thing, region) : this.#inRegion(thing, region);
    const support = this.#object(second) ?? fail(`"${second}" is neither an object nor a region`);
    return name === "on" ? this.#onObject(thing, support) : () => false; // an object has no inside to speak of
  }

  #onObject(thing: SceneObject, support: SceneObject): Condition {
    const positions = this.#simulation.array("xpos");
    const [a, b] = [3 * this.#body(thing), 3 * this.#body(support)];
    return () => {
      const [x, y] = [positions[b]! - positions[a]!, positions[b + 1]! - positions[a + 1]!];
      return (
        positions[b + 2]! <= positions[a + 2]! &&
        this.touching(support, thing) &&
        Math.sqrt(x * x + y * y) < largestOffset
      );
    };
  }

  #onRegion(thing: SceneObject, region: SceneRegion): Condition {
    const { place, rotation, body } = this.#regionViews(thing, region);
    const parent = this.#object(region.parent ?? "");
    const [sizeX, sizeY, sizeZ] = region.size;
    return () => {
      const x = body[0]! - place[0]!;
      const y = body[1]! - place[1]!;
      const z = body[2]! - place[2]!;
      // The matrix as stored, not its transpose: LIBERO's choice, and its results depend on it.
      const along = (row: number) => rotation[row]! * x + rotation[row + 1]! * y + rotation[row + 2]! * z;
      const height = along(6);
      return (
        sizeZ + restingBand[0] < height &&
        height < sizeZ + restingBand[1] &&
        Math.abs(along(0)) < sizeX &&
        Math.abs(along(3)) < sizeY &&
        (parent === undefined || this.touching(parent, thing))
      );
    };
  }

  #inRegion(thing: SceneObject, region: SceneRegion): Condition {
    const { place, rotation, body } = this.#regionViews(thing, region);
    const [sizeX, sizeY, sizeZ] = region.size;
    return () => {
      for (let i = 0; i < 3; i++) {
        const row = 3 * i;
        const reach = Math.abs(
          rotation[row]! * sizeX + rotation[row + 1]! * sizeY + rotation[row + 2]! * sizeZ,
        );
        const low = place[i]! - reach - (i === 2 ? 0.01 : 0);
        if (!(body[i]! > low && body[i]! < place[i]! + reach)) return false;
      }
      return true;
    };
  }

  #up(target: string, fail: (what: string) => never): Condition {
    const region = this.#scene.regions.get(target);
    const positions = this.#simulation.array(region ? "site_xpos" : "xpos");
    const object = () => this.#object(target) ?? fail(`"${target}" is neither an object nor a region`);
    const id = region ? this.#simulation.model.id("site", region.name) : this.#body(object());
    return () => positions[3 * id + 2]! >= liftedHeight;
  }

  /** Open and turned on: any joint; closed and turned off: every joint, so a thing without joints is closed and off. */
  #articulated(name: ArticulatedName, target: string, fail: (what: string) => never): Condition {
    const region = this.#scene.regions.get(target);
    const object =
      this.#object(region?.parent ?? target) ?? fail(`"${target}" is not an object or part of one`);
    const joints = region?.joints ?? object.joints;
    const any = name === "open" || name === "turnon";
    if (joints.length === 0) return () => !any;
    const condition = object.definition.articulation?.[articulationKeys[name]];
    if (!condition) return fail(`a ${object.category} cannot be asked that`);
    const { qpos, model } = this.#simulation;
    const addresses = joints.map((joint) => model.array("jnt_qposadr")[model.id("joint", joint)]!);
    const test = jointTest(condition);
    if (any) return () => addresses.some((address) => test(qpos[address]!));
    return () => addresses.every((address) => test(qpos[address]!));
  }

  #object(name: string): SceneObject | undefined {
    return this.#scene.objects.find((object) => object.name === name);
  }

  #body(object: SceneObject): number {
    return this.#simulation.model.id("body", object.rootBody);
  }

  #regionViews(thing: SceneObject, region: SceneRegion) {
    const site = this.#simulation.model.id("site", region.name);
    const body = 3 * this.#body(thing);
    return {
      place: this.#simulation.array("site_xpos").subarray(3 * site, 3 * site + 3),
      rotation: this.#simulation.array("site_xmat").subarray(9 * site, 9 * site + 9),
      body: this.#simulation.array("xpos").subarray(body, body + 3),
    };
  }
}

type ArticulatedName = "open" | "close" | "turnon" | "turnoff";
const articulationKeys: Record<ArticulatedName, keyof Articulation> = {
  open: "open",
  close: "close",
  turnon: "turnOn",
  turnoff: "turnOff",
};

function jointTest({ comparison, threshold }: JointCondition): (position: number) => boolean {
  switch (comparison) {
    case "<":
      return (position) => position < threshold;
    case ">":
      return (position) => position > threshold;
    case ">=":
      return (position) => position >= threshold;
    default:
      return comparison satisfies never;
  }
}
