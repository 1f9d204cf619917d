/** Draws a start, and again when things found no room, as LIBERO does; the random stream goes on. */
import type { Mt19937 } from "./mt19937.ts";
import { PlacementError } from "./placement.ts";
import type { SceneSimulation } from "./scene-simulation.ts";

export function drawScene(world: SceneSimulation, random: Mt19937): void {
  for (;;) {
    try {
      world.reset(random, 1);
      return;
    } catch (error) {
      if (!(error instanceof PlacementError)) throw error;
    }
  }
}
