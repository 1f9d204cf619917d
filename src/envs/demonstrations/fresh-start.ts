/** Draws a start that is not among the stored ones, so that those stay unseen for evaluation. */
import { drawScene } from "../engine/draw-scene.ts";
import type { Mt19937 } from "../engine/mt19937.ts";
import type { SceneSimulation } from "../engine/scene-simulation.ts";
import { drawStart } from "../tabletop/make-starts.ts";
import { isMirrored } from "../tabletop/suites.ts";

/** A row `[time, qpos…, qvel…]` at rest. */
export function drawFreshStart(world: SceneSimulation, random: Mt19937, taskName: string): Float64Array {
  const { qpos, qvel } = world.simulation;
  const row = new Float64Array(1 + qpos.length + qvel.length);
  row.set(positionsOf(world, random, taskName), 1);
  return row;
}

function positionsOf(world: SceneSimulation, random: Mt19937, taskName: string): Float64Array {
  if (world.scene.pack.name === "tabletop")
    return drawStart(world, random, isMirrored(taskName) && random.double() < 0.5);
  drawScene(world, random);
  return world.simulation.qpos;
}
