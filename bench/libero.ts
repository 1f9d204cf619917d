/**
 * `npm run bench -- libero`: our simulator against Python LIBERO on one core, same task, same start, same actions.
 *
 * Python does what LIBERO does: it draws the camera at every step and rebuilds the scene at every reset. Ours draws once
 * per chunk of 8 steps, which is all that a chunked policy sees, and keeps the scene. The rounds take turns; CPU time
 * is counted and the least of the rounds compared, since other work on the machine can only add.
 */

import { Renderer, Simulation } from "#mujoco";
import { Mt19937 } from "#random";
import { liberoPack } from "#simulators";
import { readBddl } from "../src/engine/bddl.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import { preparedAssets } from "../test/parity/libero/prepared-assets.ts";
import { liberoPython } from "./libero-python.ts";
import { Reference } from "./python.ts";
import { type BenchRow, holds, lessIsBetter } from "./row.ts";

const suites = ["libero_spatial", "libero_object"] as const;
const chunk = 8;
const chunksPerRound = 3;
const rounds = 4;
const size = { width: 256, height: 256 };
const seed = 7;

interface Pair {
  readonly name: string;
  readonly world: SceneSimulation;
  readonly reference: Reference;
  readonly bddl: string;
  readonly state: Float64Array;
}

export async function bench(): Promise<BenchRow[]> {
  const assets = await preparedAssets(undefined);
  const pack = liberoPack(assets);
  const { python, environment } = liberoPython(assets);
  const script = new URL("./libero_reference.py", import.meta.url).pathname;
  const rows: BenchRow[] = [];
  for (const suite of suites) {
    const task = pack.suites[suite]![0]!;
    const bddl = pack.resolve(task.bddl);
    const scene = assembleScene(pack, readBddl(bddl));
    using model = SceneSimulation.compile(scene);
    using world = new SceneSimulation(scene, model);
    const starts = pack.readInitStates(task);
    const reference = new Reference(python, script, [], environment);
    const pair: Pair = { name: suite, world, reference, bddl, state: starts.data.subarray(0, starts.width) };
    try {
      rows.push(...(await compare(pair)));
    } finally {
      reference.close();
    }
  }
  return rows;
}

async function compare(pair: Pair): Promise<BenchRow[]> {
  const withoutPictures = [...(await steps(pair)), await resets(pair)];
  return [...withoutPictures, await chunks(pair), await memory(pair)];
}

/** Small motions that keep touching nothing, so that both sides do the same work to the end. */
const actions = Array.from({ length: chunk * chunksPerRound }, (_, i) => [
  0.3 * Math.sin(0.3 * i),
  0.3 * Math.cos(0.3 * i),
  0.1,
  0,
  0,
  0.05,
  -1,
]);

async function start({ world, reference, state }: Pair): Promise<{ ours: number; theirs: number }> {
  const ours = cpuSeconds(() => {
    world.reset(new Mt19937(seed), 1);
    world.setState(state);
  });
  const { seconds } = await reference.ask<Timed>({ kind: "reset", state: [...state] });
  return { ours, theirs: seconds };
}

async function steps(pair: Pair): Promise<BenchRow[]> {
  const { world, reference, name } = pair;
  await reference.ask({ kind: "make", bddl: pair.bddl, camera: false, seed });
  const times: [number, number, number][] = [];
  let apart = 0;
  for (let round = 0; round < rounds; round++) {
    await start(pair);
    const begin = world.simulation.state();
    const ours = cpuSeconds(() => {
      for (const action of actions) world.step(action);
    });
    const { seconds, qpos } = await reference.ask<Stepped>({ kind: "step", actions });
    apart = Math.max(apart, jointsApart(world, qpos));
    times.push([ours, seconds, bareSteps(world, begin)]);
  }
  const [ours, theirs, floor] = leastOf(times).map((seconds) => (1e3 * seconds) / actions.length) as Three;
  return [
    lessIsBetter({ name: `step, ${name}`, unit: "ms", ours, reference: theirs, limit: floor, goal: 0.25 }),
    lessIsBetter({
      name: `step over 25 bare physics steps, ${name}`,
      unit: "ms",
      ours,
      reference: floor,
      goal: 1 / 0.8,
    }),
    holds(`arm's joints further than 1e-9 from Python's, ${name}`, apart > 1e-9 ? 1 : 0),
  ];
}

async function resets(pair: Pair): Promise<BenchRow> {
  const times: [number, number][] = [];
  for (let round = 0; round < rounds; round++) {
    const { ours, theirs } = await start(pair);
    times.push([ours, theirs]);
  }
  const [ours, reference] = leastOf(times).map((seconds) => 1e3 * seconds) as [number, number];
  return lessIsBetter({
    name: `reset of a known scene, ${pair.name}`,
    unit: "ms",
    ours,
    reference,
    goal: 1 / 20,
  });
}

async function chunks(pair: Pair): Promise<BenchRow> {
  const { world, reference, name } = pair;
  using renderer = new Renderer(world.simulation.model, { ...size, geomGroups: [false, true] });
  const picture = new Uint8Array(3 * size.width * size.height);
  await reference.ask({ kind: "make", bddl: pair.bddl, camera: true, seed });
  const draw = (simulation: Simulation) => renderer.render(simulation, "agentview", picture);
  const times: [number, number][] = [];
  for (let round = 0; round < rounds; round++) {
    await start(pair);
    const ours = cpuSeconds(() => {
      for (const [i, action] of actions.entries())
        world.step(action, i % chunk === chunk - 1 ? draw : undefined);
    });
    times.push([ours, (await reference.ask<Timed>({ kind: "step", actions })).seconds]);
  }
  const [ours, theirs] = leastOf(times).map((seconds) => (1e3 * seconds) / chunksPerRound) as [
    number,
    number,
  ];
  const what = `chunk of ${chunk} steps with one frame of 256², ${name}`;
  return lessIsBetter({ name: what, unit: "ms", ours, reference: theirs, goal: 0.166 });
}

/** Resident memory of each further environment of the same scene, stepped once. */
async function memory({ world, name, state }: Pair): Promise<BenchRow> {
  const more = 16;
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const others = Array.from({ length: more }, () => {
    const other = new SceneSimulation(world.scene, world.simulation.model);
    other.reset(new Mt19937(seed), 1);
    other.setState(state);
    other.step(actions[0]!);
    return other;
  });
  const ours = (process.memoryUsage.rss() - before) / more / 2 ** 20;
  for (const other of others) other.dispose();
  return lessIsBetter({ name: `memory of one more environment, ${name}`, unit: "MiB", ours });
}

/** The same controls without a controller: the least that 25 physics steps per action can cost. */
function bareSteps({ simulation, scene }: SceneSimulation, begin: Float64Array): number {
  using bare = new Simulation(simulation.model, { own: ["body_pos", "body_quat"] });
  for (const name of ["body_pos", "body_quat"]) bare.modelArray(name).set(simulation.modelArray(name));
  bare.setState(begin);
  bare.ctrl.set(simulation.ctrl);
  return cpuSeconds(() => bare.step(actions.length * scene.pack.control.substeps));
}

const jointsApart = ({ reading, simulation }: SceneSimulation, qpos: readonly number[]): number =>
  Math.max(...Array.from(reading.joints, (_, i) => Math.abs(simulation.qpos[i]! - qpos[i]!)));

type Three = [number, number, number];
interface Timed {
  readonly seconds: number;
}
interface Stepped extends Timed {
  readonly qpos: readonly number[];
}

const leastOf = (times: readonly (readonly number[])[]): number[] =>
  (times[0] ?? []).map((_, side) => Math.min(...times.map((round) => round[side]!)));

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
