/** Times of both sides of the worlds bench, the check that they are one model, and where rows go. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSafetensors, writeSafetensors } from "#formats";
import { deviceMemory, synchronize, type Tensor } from "#tensor";
import type { ImagineRequest, WorldMemory } from "#worlds";
import { SlotNoise } from "#worlds";
import { largestReplayed } from "../src/worlds/gpu.ts";
import type { Reference } from "./python.ts";
import { type BenchRow, tableOf } from "./row.ts";
import {
  type BenchWorld,
  type Family,
  KeptNoise,
  type Place,
  quietly,
  randomActions,
  randomStarts,
} from "./world-family.ts";

export interface Bench {
  readonly place: Place;
  readonly reference: Reference;
  readonly tiny: boolean;
  readonly compile: boolean;
  /** Whether the Python side may try all of cuDNN's algorithms first. */
  readonly tuned: boolean;
  readonly rows: BenchRow[];
}

/** Seconds of one chunk above which one measurement is enough. */
export const long = 1.5;
/** Seconds that the Python side may take for one number of episodes. */
const limit = 60;

export interface Measured {
  readonly s: number;
  readonly peak_gb: number;
  readonly error?: string;
}

/** Adds rows and prints them at once: a run that is cut short still leaves its numbers. */
export function report(state: Bench, ...measured: BenchRow[]): void {
  const rows = state.tiny
    ? measured.map((row) => (row.ratio === null ? row : { ...row, goal: null, ok: null }))
    : measured;
  const table = tableOf(rows).split("\n");
  console.error(table.slice(state.rows.length === 0 ? 0 : 2).join("\n"));
  state.rows.push(...rows);
}

/** One chunk of the given number of episodes: the best of up to two runs, and the most memory it had. */
export function measureOurs({ world, short }: BenchWorld, envs: number, { device }: Place): Measured {
  const slots = Array.from({ length: envs }, (_, slot) => slot);
  const noise = new SlotNoise(envs, 0);
  const memories = quietly(() => world.begin(randomStarts(world, envs), slots, noise));
  const request: ImagineRequest = { memories, actions: randomActions(world, envs), slots, noise };
  const run = (who = world): void =>
    quietly(() => {
      const { frames } = who.imagine(request);
      if (!frames.isfinite().all().item()) throw new Error("some frames are not numbers");
    });
  run(short);
  if (envs <= largestReplayed) for (let i = 0; i < 2; i++) run(); // seen once, captured the second time
  if (device === "cuda") deviceMemory(0, true);
  const times: number[] = [];
  while (times.length < 2 && (times[0] ?? 0) < long) times.push(seconds(run));
  disposeAll(memories);
  return { s: Math.min(...times), peak_gb: device === "cuda" ? deviceMemory().allocatedPeak / 1e9 : 0 };
}

function seconds(body: () => void): number {
  synchronize();
  const start = performance.now();
  body();
  synchronize();
  return (performance.now() - start) / 1e3;
}

const disposeAll = (memories: readonly WorldMemory[]): void => {
  for (const memory of memories) for (const value of Object.values(memory)) value.dispose();
};

export async function measureTheirs(
  { reference, place, tuned }: Bench,
  family: Family,
  sizes: unknown,
  envs: number,
  compile = false,
): Promise<Measured> {
  const request = { kind: "chunk", family: family.name, sizes, ...place, envs, limit_s: limit, long_s: long };
  return reference.ask<Measured>({ ...request, compile, tuned });
}

/** One chunk in float32 on the CPU, and how far the other ways are from it. */
export interface Compared {
  /** Numbers of the Python side, same type and device, that differ. */
  readonly differing: number;
  readonly worst: number;
  /** On the GPU in bfloat16: root-mean-square distance of latents, relative to their size. */
  readonly gpu?: { readonly ours: number; readonly theirs: number };
}

interface Imagined {
  readonly latents: Tensor;
  readonly frames: Tensor;
}

export async function compareFamily(state: Bench, family: Family): Promise<Compared> {
  const folder = mkdtempSync(join(tmpdir(), "reverie-bench-"));
  const cpu: Place = { device: "cpu", dtype: "float32" };
  const files = { weights: join(folder, "w.safetensors"), inputs: join(folder, "i.safetensors") };
  try {
    const made = family.build(true, cpu);
    const ours = await oneChunk(made, cpu, files);
    const sizes = made.sizes;
    const theirs = await theirChunk(state, family, sizes, cpu, {
      ...files,
      out: join(folder, "a.safetensors"),
    });
    const result = { ...apart(ours, theirs, family.frameTolerance) };
    if (state.place.device !== "cuda") return result;
    const here = family.build(true, state.place);
    copyWeights(made, here);
    const mine = await oneChunk(here, state.place);
    const out = join(folder, "b.safetensors");
    const python = await theirChunk(state, family, sizes, state.place, { ...files, out });
    return { ...result, gpu: { ours: distance(mine, ours), theirs: distance(python, ours) } };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The third chunk from the same start and noise: by then a GPU replays. Writes what Python needs, where asked. */
async function oneChunk(
  made: BenchWorld,
  { device }: Place,
  files?: { weights: string; inputs: string },
): Promise<Imagined> {
  const { world } = made;
  const slots = [0, 1];
  const actions = randomActions(world, slots.length);
  const memories = quietly(() => world.begin(randomStarts(world, slots.length), slots, new KeptNoise()));
  let noise = new KeptNoise();
  const imagine = (): Imagined => {
    noise = new KeptNoise();
    return quietly(() => {
      const { latents, frames } = world.imagine({ memories, actions, slots, noise });
      return { latents: latents.cpu().float().clone(), frames: frames.cpu().float().clone() };
    });
  };
  let result = imagine();
  if (device === "cuda") for (let i = 0; i < 2; i++) result = imagine();
  if (files) {
    await writeSafetensors(files.weights, made.weights());
    await writeSafetensors(files.inputs, contiguous(made.inputs(memories, actions, noise)));
  }
  return result;
}

const contiguous = (tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> =>
  new Map([...tensors].map(([name, x]) => [name, x.float().contiguous()]));

function copyWeights(from: BenchWorld, to: BenchWorld): void {
  const given = from.weights();
  quietly(() => {
    for (const [name, weight] of to.weights()) weight.copy_(given.get(name)!);
  });
}

async function theirChunk(
  { reference }: Bench,
  { name }: Family,
  sizes: unknown,
  place: Place,
  files: { weights: string; inputs: string; out: string },
): Promise<Imagined> {
  const answer = await reference.ask<{ error?: string }>({
    kind: "compare",
    family: name,
    sizes,
    ...place,
    ...files,
  });
  if (answer.error) throw new Error(`the reference cannot run the tiny network: ${answer.error}`);
  const read = readSafetensors(files.out);
  return { latents: read.get("latents")!, frames: read.get("frames")! };
}

/** Latents may be 1e-4 apart, relative to their size where that is above one. */
function apart(
  ours: Imagined,
  theirs: Imagined,
  frameTolerance: number,
): { differing: number; worst: number } {
  return quietly(() => {
    const difference = ours.latents.sub(theirs.latents).abs();
    const scale = Math.max(1, theirs.latents.abs().amax().item());
    const far = difference
      .gt(1e-4 * scale)
      .float()
      .sum()
      .item();
    const pictures = ours.frames.sub(theirs.frames).abs().gt(frameTolerance).float().sum().item();
    return { differing: far + pictures, worst: difference.amax().item() };
  });
}

const distance = (a: Imagined, b: Imagined): number =>
  quietly(() => a.latents.sub(b.latents).norm().item() / b.latents.norm().item());
