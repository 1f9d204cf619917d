/** Scenes as the product's own samplers draw them, as text that is equal only where every joint position is: for proofs about starts. */
import { Mt19937 } from "#random";
import { readBddl } from "../src/engine/bddl.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import { drawEvaluationStart, drawFreshStart } from "../src/simulators/starts/fresh-start.ts";
import { findSuite, type Suite } from "../src/simulators/suites.ts";

/** Joint positions in the stored files' precision. */
export const sceneKey = (row: Float64Array, positions: number): string =>
  Float32Array.from(row.subarray(1, 1 + positions)).join();

/** One task's samplers; each drawing begins anew. */
export class SceneDrawer implements Disposable {
  readonly #suite: Suite;
  readonly #task: number;
  readonly #world: SceneSimulation;

  constructor(suite: string, task: number) {
    this.#suite = findSuite(suite);
    this.#task = task;
    const { pack, tasks } = this.#suite;
    const scene = assembleScene(pack, readBddl(pack.resolve(tasks[task]!.bddl)));
    this.#world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  }

  get #name(): string {
    return this.#suite.tasks[this.#task]!.name;
  }

  key(row: Float64Array): string {
    return sceneKey(row, this.#world.simulation.qpos.length);
  }

  /** As `collect`, `world collect` and the exams draw it. */
  recorded(seed: number): string {
    return this.key(drawFreshStart(this.#world, new Mt19937(seed), this.#name));
  }

  /** As `eval --starts fresh` draws it. */
  evaluated(seed: number, trial: number): string {
    return this.key(drawEvaluationStart(this.#world, this.#name, { seed, trial }));
  }

  /** All that are stored. */
  stored(): string[] {
    const { count, width, data } = this.#suite.pack.readInitStates(this.#suite.tasks[this.#task]!);
    return Array.from({ length: count }, (_, i) => this.key(data.subarray(i * width, (i + 1) * width)));
  }

  [Symbol.dispose](): void {
    this.#world.dispose();
  }
}
