/**
 * `npm run bench -- mujoco`: stepping, rendering and replay of recorded controls, ours against Python MuJoCo.
 *
 * Both sides run the same scene from the same state in turns, a round each, and count CPU time; the least of the rounds
 * is compared, since other work on the machine can only add. On a developer's machine the scene is LIBERO's and
 * recorded episodes are replayed; elsewhere it is a pile of boxes.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Model, mujocoVersion, Renderer, Simulation } from "#mujoco";
import { type BenchScene, benchScenes } from "./mujoco-scenes.ts";
import { benchPython, Reference } from "./python.ts";
import { type BenchRow, holds, lessIsBetter } from "./row.ts";

const rounds = 7;
const stepsPerRound = 500;
const framesPerRound = 4;
const size = { width: 256, height: 256 };
const goal = 1.02;

export async function bench(): Promise<BenchRow[]> {
  const python = benchPython(["PyOpenGL", "glfw", "absl-py", "etils", "numpy"]);
  const folder = mkdtempSync(join(tmpdir(), "reverie-bench-"));
  try {
    const scenes = await benchScenes();
    const rows: BenchRow[] = [];
    for (const [index, scene] of scenes.entries()) {
      rows.push(...(await measure(scene, python, folder, index === 0)));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The first scene is timed; all are replayed. */
async function measure(
  scene: BenchScene,
  python: string,
  folder: string,
  timed: boolean,
): Promise<BenchRow[]> {
  const script = new URL("./mujoco_reference.py", import.meta.url).pathname;
  const reference = new Reference(python, script);
  using model = Model.fromXml(scene.xml, { name: scene.name });
  using simulation = new Simulation(model, { own: ["body_pos", "body_quat"] });
  const pair: Pair = { scene, simulation, reference, folder };
  try {
    writeFileSync(join(folder, "scene.xml"), scene.xml);
    await reference.ask({ kind: "load", xml: join(folder, "scene.xml") });
    const rows = [await replay(pair)];
    if (timed) rows.unshift(await stepping(pair), ...(await rendering(pair, model)));
    return rows;
  } finally {
    reference.close();
  }
}

interface Pair {
  readonly scene: BenchScene;
  readonly simulation: Simulation;
  readonly reference: Reference;
  readonly folder: string;
}

async function start({ scene, simulation, reference }: Pair): Promise<void> {
  await reference.ask({ kind: "start", state: [...scene.state], fixtures: scene.fixtures });
  simulation.reset();
  for (const [body, { pos, quat }] of Object.entries(scene.fixtures)) {
    const id = simulation.model.id("body", body);
    simulation.modelArray("body_pos").set(pos, 3 * id);
    simulation.modelArray("body_quat").set(quat, 4 * id);
  }
  const { qpos, qvel } = simulation;
  simulation.time = scene.state[0]!;
  qpos.set(scene.state.subarray(1, 1 + qpos.length));
  qvel.set(scene.state.subarray(1 + qpos.length));
  simulation.forward();
}

async function stepping(pair: Pair): Promise<BenchRow> {
  const times = await inTurns(async () => {
    await start(pair);
    const ours = cpuSeconds(() => pair.simulation.step(stepsPerRound));
    return [ours, (await pair.reference.ask<Timed>({ kind: "step", count: stepsPerRound })).seconds];
  });
  const [ours, reference] = times.map((seconds) => (1e6 * seconds) / stepsPerRound) as [number, number];
  return lessIsBetter({ name: `step, ${pair.scene.name}`, unit: "µs", ours, reference, goal });
}

async function rendering(pair: Pair, model: Model): Promise<BenchRow[]> {
  using renderer = new Renderer(model, { ...size, geomGroups: [false, true] });
  await start(pair);
  const { camera } = pair.scene;
  const request = { kind: "render", camera, ...size };
  const { pixels } = await pair.reference.ask<Drawn>({ ...request, count: 1 });
  const ours = renderer.render(pair.simulation, camera);
  const differing = Buffer.from(pixels, "base64").filter((value, i) => value !== ours[i]).length;
  const times = await inTurns(async () => {
    const seconds = cpuSeconds(() => {
      for (let i = 0; i < framesPerRound; i++) renderer.render(pair.simulation, camera, ours);
    });
    return [seconds, (await pair.reference.ask<Drawn>({ ...request, count: framesPerRound })).seconds];
  });
  const [mine, theirs] = times.map((seconds) => (1e3 * seconds) / framesPerRound) as [number, number];
  const { description } = renderer.describe();
  return [
    lessIsBetter({ name: `frame of 256², ${description}`, unit: "ms", ours: mine, reference: theirs, goal }),
    holds("bytes of the frame that differ from Python's", differing, "bytes"),
  ];
}

/** Ours steps in halves, as a controller does; Python in one call. Positions must be equal to the bit. */
async function replay(pair: Pair): Promise<BenchRow> {
  const { scene, simulation, reference, folder } = pair;
  await start(pair);
  const [controls, out] = [join(folder, "controls"), join(folder, "positions")];
  writeFileSync(
    controls,
    new Uint8Array(scene.controls.buffer, scene.controls.byteOffset, scene.controls.byteLength),
  );
  await reference.ask({ kind: "replay", controls, out });
  const bytes = readFileSync(out);
  const theirs = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const [nu, nq] = [simulation.ctrl.length, simulation.qpos.length];
  let differing = 0;
  for (let step = 0; step * nq < theirs.length; step++) {
    simulation.step1();
    simulation.ctrl.set(scene.controls.subarray(step * nu, (step + 1) * nu));
    simulation.step2();
    const equals = (other: Float64Array) =>
      simulation.qpos.every((q, i) => Object.is(q, other[step * nq + i]));
    if (!equals(theirs) || (scene.positions && !equals(scene.positions))) differing++;
  }
  return holds(
    `replay, ${scene.name}: steps not equal to the bit (MuJoCo ${mujocoVersion()})`,
    differing,
    "steps",
  );
}

interface Timed {
  readonly seconds: number;
}
interface Drawn extends Timed {
  readonly pixels: string; // base64
}

/** The least of several rounds, ours and theirs. */
async function inTurns(round: () => Promise<[number, number]>): Promise<[number, number]> {
  const times: [number, number][] = [];
  for (let i = 0; i < rounds; i++) times.push(await round());
  return [Math.min(...times.map(([ours]) => ours)), Math.min(...times.map(([, theirs]) => theirs))];
}

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
