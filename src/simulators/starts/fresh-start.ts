/**
 * Draws a start that is not among the stored ones. The seeds decide who ever sees it: see start-seeds.ts.
 *
 * The same samplers as for stored starts: LIBERO's placement, and what a pack of our own does after it.
 */
import { drawAfterReset, drawScene, type SceneSimulation, type StartRequest } from "#engine";
import { Mt19937 } from "#random";

/** For recorded episodes: a row `[time, qpos…, qvel…]` at rest. */
export const drawFreshStart = (world: SceneSimulation, random: Mt19937, taskName: string): Float64Array =>
  restingRow(world, random, { taskName, draw: drawScene });

/**
 * For evaluations: the same, with fixtures where `drawAfterReset` puts them for this seed, and of mirrored tasks every odd trial
 * mirrored, as their stored starts are.
 */
export const drawEvaluationStart = (
  world: SceneSimulation,
  taskName: string,
  { seed, trial }: { readonly seed: number; readonly trial: number },
): Float64Array => restingRow(world, new Mt19937(seed), { taskName, trial, draw: drawAfterReset });

function restingRow(world: SceneSimulation, random: Mt19937, request: StartRequest): Float64Array {
  const { qpos, qvel } = world.simulation;
  const row = new Float64Array(1 + qpos.length + qvel.length);
  const { drawStart } = world.scene.pack;
  if (drawStart) row.set(drawStart(world, random, request), 1);
  else {
    request.draw(world, random);
    row.set(qpos, 1);
  }
  return row;
}
