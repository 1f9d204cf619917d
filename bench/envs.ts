/**
 * `npm run bench -- envs [SUITE] [COUNT]`: many environments at once, as training runs them: every slot plays chunks of 8
 * actions and one picture of 256² is drawn of the last moment of each.
 *
 * The limit is what this machine could do at best, from one world's step and frame measured alone: all cores stepping,
 * and the picture drawn by the graphics card meanwhile or, without one, by the same cores.
 */

import { availableParallelism } from "node:os";
import { processLauncher } from "#cluster";
import { SimulatorEnv, simulatorEnvSettings } from "#envs";
import { Renderer } from "#mujoco";
import { Mt19937 } from "#random";
import { findSuite } from "#simulators";
import { tensor } from "#tensor";
import { readBddl } from "../src/engine/bddl.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import type { BenchOptions } from "./main.ts";
import { type BenchRow, moreIsBetter } from "./row.ts";

const chunk = 8;
const size = 256;
const seconds = 12;
const actionSize = 7;

export async function bench({ rest }: BenchOptions): Promise<BenchRow[]> {
  const [suite = "libero_spatial", count = "64"] = rest;
  const limit = limitOf(suite);
  const rate = await stepsPerSecond(suite, Number(count), { seconds, size });
  const name = `${count} envs of ${suite}, chunk ${chunk}, one frame of ${size}²; ${limit.words}`;
  return [moreIsBetter({ name, unit: "env-steps/s", ours: rate, limit: limit.rate })];
}

/** Env-steps a second of `count` slots of a suite's first task, with one picture of `size`² a chunk. */
export async function stepsPerSecond(
  suite: string,
  count: number,
  { seconds, size }: { readonly seconds: number; readonly size: number },
): Promise<number> {
  const env = new SimulatorEnv(
    count,
    simulatorEnvSettings.parse({
      task_suite_name: suite,
      task_id_filter: [0],
      max_episode_steps: 10_000,
      wrist_camera: false,
      init_params: { camera_heights: size, camera_widths: size },
    }),
    { launcher: processLauncher },
  );
  try {
    await env.reset();
    const play = async (index: number) => {
      using actions = tensor(motions(count, index)).reshape([count, chunk, actionSize]);
      await env.step(actions);
    };
    await play(0); // compiles what is compiled on first use
    const begin = performance.now();
    let chunks = 0;
    for (; performance.now() - begin < 1e3 * seconds; chunks++) await play(chunks);
    return (1e3 * chunks * chunk * count) / (performance.now() - begin);
  } finally {
    await env.close();
  }
}

/** Slow circles above the table, another phase for each slot. */
const motions = (count: number, index: number): Float32Array =>
  Float32Array.from({ length: count * chunk * actionSize }, (_, i) => {
    const slot = Math.floor(i / (chunk * actionSize));
    const time = 0.2 * (index * chunk + (Math.floor(i / actionSize) % chunk)) + slot;
    const axis = i % actionSize;
    return axis === 0 ? 0.3 * Math.sin(time) : axis === 1 ? 0.3 * Math.cos(time) : axis === 6 ? -1 : 0;
  });

function limitOf(suiteName: string): { rate: number; words: string } {
  const { pack, tasks } = findSuite(suiteName);
  const scene = assembleScene(pack, readBddl(pack.resolve(tasks[0]!.bddl)));
  using model = SceneSimulation.compile(scene);
  using world = new SceneSimulation(scene, model);
  world.reset(new Mt19937(0), 1);
  using renderer = new Renderer(model, { width: size, height: size, geomGroups: [false, true] });
  const picture = renderer.render(world.simulation, "agentview");
  const step = secondsOf(() => world.step([0.1, 0, 0, 0, 0, 0, -1]));
  const frame = secondsOf(() => renderer.render(world.simulation, "agentview", picture));
  const cores = availableParallelism();
  const { description } = renderer.describe();
  const words = `alone ${(1e3 * step).toFixed(2)} ms a step, ${(1e3 * frame).toFixed(2)} ms a frame, ${cores} cores, ${description}`;
  const software = /llvmpipe|softpipe/.test(description);
  const together = (cores * chunk) / (chunk * step + frame);
  return { rate: software ? together : Math.min(cores / step, chunk / frame), words };
}

/** The mean of what fits into a second, after one call to warm up. */
function secondsOf(work: () => void): number {
  work();
  const begin = performance.now();
  let count = 0;
  for (; performance.now() - begin < 1000; count++) work();
  return (performance.now() - begin) / 1e3 / count;
}
