/** Puts a world into the start that a job names, the same way for whoever then acts in it. */

import type { InitStates, SceneSimulation } from "#engine";
import { drawScene, restAction } from "#engine";
import { Mt19937 } from "#random";
import type { Suite } from "#simulators";
import { drawFreshStart } from "#simulators";

export interface EpisodeJob {
  /** Index within the suite. */
  readonly task: number;
  /** A stored start, or -1 to draw one from the seed. */
  readonly start: number;
  readonly seed: number;
}

/** Episodes that become one file. */
export interface ShardJob {
  readonly path: string;
  readonly jobs: readonly EpisodeJob[];
}

/** Sets the start and lets the world settle, looking at the end only. `random` is the job's own stream, at its beginning. */
export function beginJob(
  world: SceneSimulation,
  { pack, tasks }: Suite,
  { task, start, seed }: EpisodeJob,
  random: Mt19937,
  look: () => void,
): void {
  const entry = tasks[task]!;
  const fresh = start < 0 ? drawFreshStart(world, random, entry.name) : undefined;
  drawScene(world, new Mt19937(seed)); // where fixtures stand, the same for both kinds of start
  world.setState(fresh ?? storedStart(pack.readInitStates(entry), start));
  const { settleSteps } = pack.control;
  const openHand = restAction(pack, -1);
  for (let step = 1; step <= settleSteps; step++)
    world.step(openHand, step === settleSteps ? look : undefined);
}

const storedStart = ({ data, width }: InitStates, index: number): Float64Array =>
  data.subarray(index * width, (index + 1) * width);
