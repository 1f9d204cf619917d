/** Runs an expert from a stored start to success or the end of its time. */

import { type OnObservation, restAction, type SceneSimulation } from "#engine";
import type { Action, SceneExpert } from "./expert.ts";

export interface EpisodeOptions {
  readonly maxSteps: number;
  /** Turns the expert's answer into what is executed. */
  readonly disturb?: (action: Action) => Action;
  /** Called before each step with what will be executed and what the expert says. */
  readonly onStep?: (executed: Action, expert: Action) => void;
  /** For pictures: see `SceneSimulation.step`. */
  readonly onObservation?: OnObservation;
  /** Called after each step with whether the goal holds. */
  readonly afterStep?: (success: boolean) => void;
  /** Go on this many steps after the first success. */
  readonly stepsAfterSuccess?: number;
}

export interface EpisodeResult {
  readonly success: boolean;
  readonly steps: number;
}

/** The world must stand at the episode's start; see `beginEpisode`. */
export function runEpisode(
  world: SceneSimulation,
  expert: SceneExpert,
  options: EpisodeOptions,
): EpisodeResult {
  const { maxSteps, disturb = (action) => action, stepsAfterSuccess = 0 } = options;
  let last = maxSteps;
  let success = false;
  let steps = 0;
  while (steps < last) {
    const expertAction = expert.act();
    const executed = disturb(expertAction);
    options.onStep?.(executed, expertAction);
    const holds = world.step(executed, options.onObservation);
    options.afterStep?.(holds);
    steps++;
    if (holds && !success) last = Math.min(last, steps + stepsAfterSuccess);
    success ||= holds;
  }
  return { success, steps };
}

/** Puts a world into a stored start and lets it settle with open hands. */
export function beginEpisode(world: SceneSimulation, start: ArrayLike<number>): void {
  world.setState(start);
  const { pack } = world.scene;
  const openHands = restAction(pack, -1);
  for (let step = 0; step < pack.control.settleSteps; step++) world.step(openHands);
}
