/** Every task of every suite: its scene assembles and compiles, a start can be drawn, and a stored start can be set. */
import { Mt19937 } from "#random";
import { readBddl } from "../../../src/engine/bddl.ts";
import type { AssetPack, TaskEntry } from "../../../src/engine/pack.ts";
import { assembleScene } from "../../../src/engine/scene.ts";
import { SceneSimulation } from "../../../src/engine/scene-simulation.ts";
import type { ParityCase } from "../main.ts";

export function* everyTask(pack: AssetPack): Generator<ParityCase> {
  for (const task of pack.suites.libero_130 ?? []) {
    const fault = faultOf(pack, task);
    const name = fault === undefined ? task.name : `${task.name}: ${fault}`;
    yield { name, ok: fault === undefined, worst: fault === undefined ? 0 : 1, tolerance: 0 };
  }
}

const rest = [0, 0, 0, 0, 0, 0, -1];

function faultOf(pack: AssetPack, task: TaskEntry): string | undefined {
  try {
    const scene = assembleScene(pack, readBddl(pack.resolve(task.bddl)));
    using model = SceneSimulation.compile(scene);
    using world = new SceneSimulation(scene, model);
    const placed = world.reset(new Mt19937(0), 2);
    if (placed.length !== scene.objects.length)
      return `${placed.length} of ${scene.objects.length} things were placed`;
    const starts = pack.readInitStates(task);
    for (let i = 0; i < starts.count; i++)
      world.setState(starts.data.subarray(i * starts.width, (i + 1) * starts.width));
    world.step(rest);
    return world.simulation.qpos.every(Number.isFinite)
      ? undefined
      : "the first step gave no finite positions";
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  }
}
