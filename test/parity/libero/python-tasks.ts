/**
 * Every task against Python LIBERO itself, run beside us: the model that it compiles, and two starts that it draws.
 *
 * The recorded episodes cover twelve tasks; this covers all 130, in about ten minutes. Python is set up as for the bench.
 */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Model, Simulation } from "#mujoco";
import { Mt19937 } from "#random";
import { liberoPython } from "../../../bench/libero-python.ts";
import { readBddl } from "../../../src/engine/bddl.ts";
import type { AssetPack } from "../../../src/engine/pack.ts";
import { assembleScene, type Scene } from "../../../src/engine/scene.ts";
import { ownedByReset, resetScene } from "../../../src/engine/scene-reset.ts";
import type { ParityCase } from "../main.ts";
import { modelDifferences } from "./models.ts";

interface PythonTask {
  readonly xml: string;
  readonly resets: readonly {
    readonly positions: readonly number[];
    readonly fixtures: Readonly<Record<string, readonly number[]>>; // position, then quaternion
  }[];
}

const program = fileURLToPath(new URL("./python_tasks.py", import.meta.url));

export async function* againstPython(pack: AssetPack, assets: string): AsyncGenerator<ParityCase> {
  const { python, environment } = liberoPython(assets);
  const child = spawn(python, [program], { env: environment, stdio: ["pipe", "pipe", "ignore"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tasks = pack.suites.libero_130 ?? [];
  for (const [i, { bddl, name }] of tasks.entries()) {
    const [path, seed] = [pack.resolve(bddl), 1000 + i];
    child.stdin.write(`${JSON.stringify({ bddl: path, seed })}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`internal: Python LIBERO ended at ${name}`);
    yield* compareTask(name, assembleScene(pack, readBddl(path)), JSON.parse(value) as PythonTask, seed);
  }
  child.stdin.end();
}

function* compareTask(
  name: string,
  scene: Scene,
  { xml, resets }: PythonTask,
  seed: number,
): Generator<ParityCase> {
  using ours = Model.fromXml(scene.xml, { share: false });
  using reference = Model.fromXml(xml, { share: false });
  const differing = modelDifferences(ours, reference);
  const model =
    differing.length === 0 ? `${name} model` : `${name} model (${differing.slice(0, 4).join(", ")})`;
  yield { name: model, ok: differing.length === 0, worst: differing.length, tolerance: 0 };
  using world = new Simulation(ours, { own: ownedByReset });
  const random = new Mt19937(seed);
  for (const [i, { positions, fixtures }] of resets.entries()) {
    resetScene(scene, world, random, 2 + i); // LIBERO draws joints once more at every reset
    const poses = Object.entries(fixtures).map(([fixture, pose]) =>
      distance(poseOf(world, `${fixture}_main`), pose),
    );
    const worst = Math.max(distance(world.qpos, positions), ...poses);
    yield { name: `${name} start ${i}`, ok: worst <= lastBit, worst, tolerance: lastBit };
  }
}

/** The C library's sine is rounded the other way in about 1 of 500 angles. */
const lastBit = 1.2e-16;

function poseOf(world: Simulation, body: string): number[] {
  const id = world.model.id("body", body);
  const [positions, quaternions] = [world.modelArray("body_pos"), world.modelArray("body_quat")];
  return [...positions.subarray(3 * id, 3 * id + 3), ...quaternions.subarray(4 * id, 4 * id + 4)];
}

function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...Array.from(a, (value, i) => Math.abs(value - b[i]!)));
}
