/**
 * Draws a start, and again when things found no room, as LIBERO does; the random stream goes on.
 *
 * Both ways are the reset of an environment that was built and then seeded. LIBERO draws joints once more at every reset (see
 * `scene-reset.ts`): `drawScene` is what an env draws that was never reset before, `drawAfterReset` what it draws at its first
 * reset after construction, which is where evaluations take their fixtures from.
 */
import type { Mt19937 } from "#random";
import { PlacementError } from "./placement.ts";
import type { SceneSimulation } from "./scene-simulation.ts";

export type DrawScene = (world: SceneSimulation, random: Mt19937) => void;

/** Without room after this many draws there is none. */
const mostAttempts = 100;

export const drawScene: DrawScene = (world, random) => {
  for (;;) {
    try {
      world.reset(random, 1);
      return;
    } catch (error) {
      if (!(error instanceof PlacementError)) throw error;
    }
  }
};

export const drawAfterReset: DrawScene = (world, random) => {
  for (let attempt = 0; ; attempt++) {
    try {
      world.reset(random, 2 + attempt);
      return;
    } catch (error) {
      if (!(error instanceof PlacementError) || attempt === mostAttempts) throw error;
    }
  }
};
