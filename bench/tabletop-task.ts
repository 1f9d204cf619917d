/** A task of a suite with its expert and, if wanted, its camera: what the tabletop bench runs. */

import { Mt19937 } from "#random";
import { readBddl } from "../src/engine/bddl.ts";
import { drawScene } from "../src/engine/draw-scene.ts";
import { PackCamera } from "../src/engine/pack-camera.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import { beginEpisode, type EpisodeResult, runEpisode } from "../src/simulators/experts/episode.ts";
import { makeExpert } from "../src/simulators/make-expert.ts";
import { findSuite } from "../src/simulators/suites.ts";

const chunk = 8;

export interface BenchTask {
  readonly sentence: string;
  readonly starts: number;
  run(start: number): EpisodeResult;
}

/** @param pictureSize pixels of a picture after every eighth step; 0 for none. */
export function openTask(suite: string, index: number, pictureSize = 0): BenchTask {
  const { pack, tasks } = findSuite(suite);
  const task = tasks[index]!;
  const scene = assembleScene(pack, readBddl(pack.resolve(task.bddl)));
  const world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const expert = makeExpert(world);
  const { data, width, count } = pack.readInitStates(task);
  const camera = pictureSize > 0 ? cameraOf(world, pictureSize) : () => {};
  return {
    sentence: task.language,
    starts: count,
    run(start) {
      drawScene(world, new Mt19937(start));
      beginEpisode(world, data.subarray(start * width, (start + 1) * width));
      expert.reset();
      let steps = 0;
      return runEpisode(world, expert, { maxSteps: 300, afterStep: () => ++steps % chunk === 0 && camera() });
    },
  };
}

function cameraOf(world: SceneSimulation, size: number): () => void {
  const { simulation, scene } = world;
  const camera = new PackCamera(simulation.model, scene.pack.sights, { width: size, height: size });
  return () => camera.main(simulation);
}
