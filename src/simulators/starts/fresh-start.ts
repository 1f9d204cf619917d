/**
 * Draws a start that is not among the stored ones. The seeds decide who ever sees it: see start-seeds.ts.
 *
 * The same samplers as for stored starts: LIBERO's placement, and for our tabletop also the hand's way to its place.
 */
import { Mt19937 } from "#random";
import { type DrawScene, drawAfterReset, drawScene } from "../engine/draw-scene.ts";
import type { SceneSimulation } from "../engine/scene-simulation.ts";
import { drawStart } from "../tabletop/make-starts.ts";
import { isMirrored } from "../tabletop/suites.ts";

/** For recorded episodes: a row `[time, qpos…, qvel…]` at rest. */
export function drawFreshStart(world: SceneSimulation, random: Mt19937, taskName: string): Float64Array {
  const mirror = isTabletop(world) && isMirrored(taskName) && random.double() < 0.5;
  return restingRow(world, random, mirror, drawScene);
}

/**
 * For evaluations: the same, with fixtures where `drawAfterReset` puts them for this seed, and of mirrored tasks every odd trial
 * mirrored, as their stored starts are.
 */
export function drawEvaluationStart(
  world: SceneSimulation,
  taskName: string,
  { seed, trial }: { readonly seed: number; readonly trial: number },
): Float64Array {
  const mirror = isTabletop(world) && isMirrored(taskName) && trial % 2 === 1;
  return restingRow(world, new Mt19937(seed), mirror, drawAfterReset);
}

function restingRow(world: SceneSimulation, random: Mt19937, mirror: boolean, draw: DrawScene): Float64Array {
  const { qpos, qvel } = world.simulation;
  const row = new Float64Array(1 + qpos.length + qvel.length);
  if (isTabletop(world)) {
    row.set(drawStart(world, random, mirror, draw), 1);
    return row;
  }
  draw(world, random);
  row.set(world.simulation.qpos, 1);
  return row;
}

const isTabletop = ({ scene }: SceneSimulation): boolean => scene.pack.name === "tabletop";
