/** The truth about a running home, read from its simulation's arrays. Things go by their names in the task's BDDL. */
import { type SceneObject, type SceneSimulation, type Side, TwoArmDrive } from "#engine";
import type { Point } from "../../experts/expert.ts";
import { type Mistakes, noMistakes } from "../../experts/mistakes.ts";
import { Hand } from "./hand.ts";

export class HomeTruth {
  readonly world: SceneSimulation;
  readonly hands: Readonly<Record<Side, Hand>>;
  mistakes: Mistakes = noMistakes;

  constructor(world: SceneSimulation) {
    const { drive } = world;
    if (!(drive instanceof TwoArmDrive)) throw new Error("internal: a home has a robot with two arms");
    this.world = world;
    this.hands = { left: new Hand("left", drive.arms.left), right: new Hand("right", drive.arms.right) };
  }

  /** Hands travel at least this high where a drawer stands open, whose front ends at 1.042 m; 0 where nothing is tall. */
  get safeHeight(): number {
    const open = this.objects.some(
      ({ name, category }) => category === "cabinet" && this.joint(`${name}_drawer_slide`) > 0.02,
    );
    return open ? 1.1 : 0;
  }

  object(name: string): SceneObject {
    const found = this.world.scene.objects.find((object) => object.name === name);
    if (!found) throw new Error(`internal: the scene has no ${name}`);
    return found;
  }

  get objects(): readonly SceneObject[] {
    return this.world.scene.objects;
  }

  at(name: string): Point {
    return this.#point("xpos", this.#body(this.object(name).rootBody));
  }

  /** Row-major [9], a view. */
  rotation(name: string): Float64Array {
    return this.#matrix(this.#body(this.object(name).rootBody));
  }

  /** About the vertical. */
  heading(name: string): number {
    const turn = this.rotation(name);
    return Math.atan2(turn[3]!, turn[0]!);
  }

  site(name: string): Point {
    return this.#point("site_xpos", this.world.simulation.model.id("site", name));
  }

  /** A point fixed to a body, such as the tip of a lever. */
  onBody(name: string, [x, y, z]: Point): Point {
    const id = this.#body(name);
    const turn = this.#matrix(id);
    const [px, py, pz] = this.#point("xpos", id);
    const along = (row: number) => turn[row]! * x + turn[row + 1]! * y + turn[row + 2]! * z;
    return [px + along(0), py + along(3), pz + along(6)];
  }

  /** Meters of a slide, radians of a hinge. */
  joint(name: string): number {
    const { model, qpos } = this.world.simulation;
    return qpos[model.array("jnt_qposadr")[model.id("joint", name)]!]!;
  }

  /** Whether a predicate of BDDL holds now. */
  holds(name: string, ...args: readonly string[]): boolean {
    const { predicates, scene } = this.world;
    return predicates.compile({ name, args, line: 0 }, scene.task.file)();
  }

  #body(name: string): number {
    return this.world.simulation.model.id("body", name);
  }

  #matrix(body: number): Float64Array {
    return this.world.simulation.array("xmat").subarray(9 * body, 9 * body + 9);
  }

  #point(array: "xpos" | "site_xpos", row: number): Point {
    const rows = this.world.simulation.array(array);
    return [rows[3 * row]!, rows[3 * row + 1]!, rows[3 * row + 2]!];
  }
}
