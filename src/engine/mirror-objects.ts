/** The other half of a task's starts: everything that can be moved on the other side, so that a side alone never tells the answer. */
import type { SceneSimulation } from "./scene-simulation.ts";

/** Reflects the free objects in the plane y = 0. `positions`: [nq]. */
export function mirrorObjects(
  { scene, simulation: { model } }: SceneSimulation,
  positions: Float64Array,
): void {
  for (const { fixture, joints } of scene.objects) {
    if (fixture) continue;
    const at = model.array("jnt_qposadr")[model.id("joint", joints.at(-1) ?? "")]!;
    positions[at + 1]! *= -1;
    positions[at + 4]! *= -1; // quaternion w, x, y, z: x and z change sign
    positions[at + 6]! *= -1;
  }
}
