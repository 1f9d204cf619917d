/**
 * `npm run bench -- worlds --device cuda`: the three world models in their published sizes, random weights in bfloat16,
 * against the same models in PyTorch (world_*_reference.py), both in this run on this GPU.
 *
 * A chunk is a whole `imagine`: conditioning, all denoising steps, decoding. Before anything is timed both sides load
 * one small set of weights in float32 on the CPU and must agree; on a GPU also both in bfloat16. Rows are printed as they are
 * measured, a family that fails leaves the others alone, and numbers of episodes that would take too long are left out.
 * `--only opensora|wan|evac`, `--envs 1,8,16,32`, `--compile` adds torch.compile of the reference's blocks at 8 episodes,
 * `--tuned` turns cudnn.benchmark on for the reference (off on both sides otherwise), `--tiny` tries the bench itself on a CPU.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allowTf32, emptyCache, randn, synchronize } from "#tensor";
import type { BenchOptions } from "./main.ts";
import { benchPython, Reference, torchNeeds } from "./python.ts";
import { type BenchRow, holds, lessIsBetter, moreIsBetter } from "./row.ts";
import { evac } from "./world-evac.ts";
import { type Family, type Place, quietly } from "./world-family.ts";
import {
  type Bench,
  compareFamily,
  type Measured,
  measureOurs,
  measureTheirs,
  report,
} from "./world-measure.ts";
import { opensora } from "./world-opensora.ts";
import { wan } from "./world-wan.ts";

const families: readonly Family[] = [opensora, wan, evac];
/** Seconds that one number of episodes may take on our side, as predicted from the one before. */
const patience = 12;

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  const { values } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: {
      only: { type: "string" },
      envs: { type: "string" },
      tiny: { type: "boolean" },
      compile: { type: "boolean" },
      tuned: { type: "boolean" },
    },
  });
  const tiny = values.tiny === true || device === "cpu"; // the published sizes are not for a CPU
  const place: Place = { device, dtype: device === "cuda" ? "bfloat16" : "float32" };
  const reference = startReference();
  const state: Bench = {
    place,
    reference,
    tiny,
    compile: values.compile === true,
    tuned: values.tuned === true,
    rows: [],
  };
  const counts = `${values.envs ?? (tiny ? "1,2" : "1,8,16,32")}`.split(",").map(Number);
  allowTf32(false);
  try {
    const peak = device === "cuda" ? await matrixRate(state) : undefined;
    for (const family of families) {
      if (values.only !== undefined && values.only !== family.name) continue;
      await orReport(state, family.name, () => measured(state, family, counts, peak));
    }
  } finally {
    reference.close();
  }
  return state.rows;
}

function startReference(): Reference {
  const python = benchPython(torchNeeds);
  return new Reference(python, fileURLToPath(new URL("world_reference.py", import.meta.url)));
}

async function measured(
  state: Bench,
  family: Family,
  counts: readonly number[],
  peak?: number,
): Promise<void> {
  await orReport(state, `${family.name}: comparison`, () => agreement(state, family));
  const made = family.build(state.tiny, state.place);
  let [before, best] = [{ envs: 0, s: 0 }, 0];
  const one = async (envs: number): Promise<void> => {
    const ours = measureOurs(made, envs, state.place);
    if (state.place.device === "cuda") emptyCache();
    const theirs = await measureTheirs(state, family, made.sizes, envs);
    report(state, ...chunkRows(family, made.world.chunk, envs, ours, theirs, peak));
    if (state.compile && envs === 8) await againstCompiled(state, family, made.sizes, envs, ours);
    before = { envs, s: ours.s };
    best = Math.max(best, (envs * made.world.chunk) / ours.s);
  };
  for (const envs of counts) {
    const name = `${family.name}, ${envs} envs`;
    if ((before.s * envs) / (before.envs || 1) <= patience) await orReport(state, name, () => one(envs));
    else console.error(`${name}: left out, it would take too long`);
  }
  const name = `${family.name}, best, against the goal`;
  report(state, moreIsBetter({ name, unit: "frames/s", ours: best, reference: family.goal, goal: 1 }));
  made.dispose();
  if (state.place.device === "cuda") emptyCache();
  await state.reference.ask({ kind: "release" });
}

/** A part that fails says why and leaves the others alone. */
async function orReport(state: Bench, name: string, part: () => Promise<void>): Promise<void> {
  await part().catch((error: unknown) => {
    console.error(`${name} failed: ${error instanceof Error ? error.stack : error}`);
    report(state, holds(`${name} could be measured`, 1, "failures"));
  });
}

/** Both sides are one model. */
async function agreement(state: Bench, family: Family): Promise<void> {
  const { differing, worst, gpu } = await compareFamily(state, family);
  console.error(`${family.name}: one set of weights, latents at most ${worst.toExponential(1)} apart`);
  report(
    state,
    holds(`${family.name}: one set of weights in float32, numbers that differ`, differing, "numbers"),
  );
  if (!gpu) return;
  const name = `${family.name}: bfloat16 on the GPU, distance from float32`;
  report(state, lessIsBetter({ name, unit: "relative", ours: gpu.ours, reference: gpu.theirs, goal: 1.5 }));
}

function chunkRows(
  family: Family,
  chunk: number,
  envs: number,
  ours: Measured,
  theirs: Measured,
  peak: number | undefined,
): BenchRow[] {
  const name = `${family.name}, ${envs} envs`;
  if (theirs.error) console.error(`${name}: the reference failed: ${theirs.error}`);
  const other = (value: (of: Measured) => number) => (theirs.error ? {} : { reference: value(theirs) });
  const frames = ({ s }: Measured) => (envs * chunk) / s;
  const rate = (family.operations * envs) / ours.s / 1e12;
  return [
    lessIsBetter({ name: `${name}, chunk`, unit: "s", ours: ours.s, ...other(({ s }) => s), goal: 1 }),
    moreIsBetter({ name: `${name}, frames`, unit: "1/s", ours: frames(ours), ...other(frames) }),
    ...(peak === undefined ? [] : gpuRows(name, rate, peak, ours, theirs)),
  ];
}

function gpuRows(name: string, rate: number, peak: number, ours: Measured, theirs: Measured): BenchRow[] {
  const reference = theirs.error ? {} : { reference: theirs.peak_gb };
  return [
    moreIsBetter({ name: `${name}, rate, limit: 8192³ product`, unit: "TFLOP/s", ours: rate, limit: peak }),
    lessIsBetter({ name: `${name}, peak memory`, unit: "GB", ours: ours.peak_gb, ...reference }),
  ];
}

async function againstCompiled(
  state: Bench,
  family: Family,
  sizes: unknown,
  envs: number,
  ours: Measured,
): Promise<void> {
  const theirs = await measureTheirs(state, family, sizes, envs, true);
  if (theirs.error) return console.error(`torch.compile was left out: ${theirs.error}`);
  const name = `${family.name}, ${envs} envs, chunk, against torch.compile`;
  report(state, lessIsBetter({ name, unit: "s", ours: ours.s, reference: theirs.s }));
}

/** TFLOP/s of a large square product, the better of the two sides: what the machine can do on this day. */
async function matrixRate({ place, reference }: Bench): Promise<number> {
  const side = 8192;
  const [a, b] = [randn([side, side], place), randn([side, side], place)];
  const product = () => quietly(() => void a.matmul(b));
  product();
  let best = Infinity;
  for (let round = 0; round < 3; round++) {
    synchronize();
    const start = performance.now();
    for (let i = 0; i < 10; i++) product();
    synchronize();
    best = Math.min(best, (performance.now() - start) / 1e4);
  }
  for (const x of [a, b]) x.dispose();
  const theirs = await reference.ask<{ s?: number }>({ kind: "matmul", side, device: "cuda" });
  return (2 * side ** 3) / Math.min(best, theirs.s ?? Infinity) / 1e12;
}
