/**
 * `npm run bench -- world-training --device cuda [--seconds 2] [--only denoiser]`: optimiser steps a second of the networks
 * of a small OpenSora world, in the sizes of docs/worlds.md, on random recordings made in memory.
 *
 * A step is all of it: drawing a lesson, forward, backward, clipping, AdamW with float32 masters, averaged weights. Three ways:
 * operator by operator, as a captured graph, and captured with fused kernels; beside them the denoisers' step in eager
 * PyTorch (world_training_reference.py, on one fixed lesson). Rows are printed as they are measured; one that fails leaves
 * the others alone. `--tiny` tries the bench itself on a CPU.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allowTf32, type Device, scope, synchronize, useKernels } from "#tensor";
import { AutoencoderKL } from "#worlds";
import { initialise } from "../src/training/world/initialise.ts";
import { judgeCourse, judgeSettings } from "../src/training/world/judge.ts";
import { autoencoderCourse, autoencoderSettings } from "../src/training/world/opensora-autoencoder.ts";
import {
  actionStatistics,
  denoiserCourse,
  denoiserSettings,
} from "../src/training/world/opensora-denoiser.ts";
import type { RecordedFrames } from "../src/training/world/recorded-frames.ts";
import { throughPictures } from "../src/training/world/through-autoencoder.ts";
import { type Course, withStreams } from "../src/training/world/training-loop.ts";
import type { Lesson } from "../src/training/world/weight-training.ts";
import type { BenchOptions } from "./main.ts";
import { benchPython, Reference } from "./python.ts";
import { type BenchRow, moreIsBetter, tableOf } from "./row.ts";
import { randomRecordings } from "./world-training-data.ts";

interface Way {
  readonly name: string;
  readonly cuda_graph: boolean;
  readonly kernels: boolean;
}

const ways: readonly Way[] = [
  { name: "plain", cuda_graph: false, kernels: false },
  { name: "captured", cuda_graph: true, kernels: false },
  { name: "captured, fused", cuda_graph: true, kernels: true },
];

/** What is trained: its steps a second by a way, and PyTorch's where there is one. */
interface Subject {
  readonly name: string;
  readonly goal?: number; // steps a second that are wanted of an H200
  readonly request?: Readonly<Record<string, unknown>>;
  measure(way: Way, seconds: number): number;
}

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  const { values } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: { seconds: { type: "string" }, only: { type: "string" }, tiny: { type: "boolean" } },
  });
  const tiny = values.tiny === true || device === "cpu";
  const seconds = Number(values.seconds ?? (tiny ? 0.2 : 2));
  if (device === "cuda") allowTf32(true);
  const rows: BenchRow[] = [];
  const reference = startReference();
  for (const subject of subjects(device, tiny)) {
    if (values.only !== undefined && !subject.name.includes(`${values.only}`)) continue;
    const theirs = await measureTheirs(reference, subject, device, seconds);
    for (const way of device === "cuda" ? ways : ways.slice(0, 1)) {
      const measured = attempt(`${subject.name}, ${way.name}`, () =>
        measureOurs(subject, way, seconds, theirs),
      );
      if (!measured) continue;
      console.error(
        tableOf([measured])
          .split("\n")
          .slice(rows.length === 0 ? 0 : 2)
          .join("\n"),
      );
      rows.push(measured);
    }
    if (!tiny && subject.goal !== undefined) rows.push(againstGoal(subject.name, rows, subject.goal));
  }
  reference?.close();
  return rows;
}

function measureOurs(subject: Subject, way: Way, seconds: number, theirs: number | undefined): BenchRow {
  const before = useKernels(way.kernels);
  try {
    const ours = subject.measure(way, seconds);
    return moreIsBetter({
      name: `${subject.name}, ${way.name}`,
      unit: "steps/s",
      ours,
      ...(theirs !== undefined && { reference: theirs }),
    });
  } finally {
    useKernels(before);
  }
}

/** The fastest way of a subject. */
function againstGoal(subject: string, rows: readonly BenchRow[], goal: number): BenchRow {
  const own = rows.filter(({ name }) => name.startsWith(`${subject}, `)).map(({ ours }) => ours);
  const name = `${subject}, best, against the goal`;
  return moreIsBetter({ name, unit: "steps/s", ours: Math.max(0, ...own), reference: goal, goal: 1 });
}

function attempt<T>(name: string, body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    console.error(`${name} failed: ${error instanceof Error ? error.stack : error}`);
    return undefined;
  }
}

const pythonPackages = ["numpy", "filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec"];

function startReference(): Reference | undefined {
  const script = fileURLToPath(new URL("world_training_reference.py", import.meta.url));
  return attempt("PyTorch", () => new Reference(benchPython(pythonPackages), script));
}

async function measureTheirs(
  reference: Reference | undefined,
  { name, request }: Subject,
  device: Device,
  seconds: number,
): Promise<number | undefined> {
  if (!reference || !request) return undefined;
  try {
    const answer = await reference.ask<{ rate?: number; error?: string }>({ ...request, device, seconds });
    if (answer.error) console.error(`${name}: PyTorch failed: ${answer.error}`);
    return answer.rate;
  } catch (error) {
    console.error(`${name}: PyTorch failed: ${error}`);
    return undefined;
  }
}

function subjects(device: Device, tiny: boolean): Subject[] {
  const size = tiny ? { episodes: 4, length: 10, side: 16 } : { episodes: 128, length: 40, side: 64 };
  const frames = randomRecordings(device, size);
  const small = tiny ? { batch_size: 4 } : {};
  const vae = untrainedVae(device);
  return [
    denoiser(frames, vae, { patch: 4, batch_size: 256, goal: 100, ...small }, tiny),
    denoiser(frames, vae, { patch: 2, batch_size: 128, goal: 40, ...small }, tiny),
    {
      name: "autoencoder",
      measure: (way, seconds) =>
        pace(device, seconds, () =>
          autoencoderCourse(frames, autoencoderSettings.parse({ batch_size: 256, ...small, ...graph(way) })),
        ),
    },
    {
      name: "judge",
      measure: (way, seconds) =>
        pace(device, seconds, () =>
          judgeCourse(frames, throughPictures(vae, frames), judgeSettings.parse({ ...small, ...graph(way) })),
        ),
    },
  ];
}

const graph = ({ cuda_graph }: Way) => ({ cuda_graph });

function untrainedVae(device: Device): AutoencoderKL {
  const { block_out_channels, layers_per_block, norm_num_groups } = autoencoderSettings.parse({});
  const ends = { latent_channels: 4, in_channels: 3, out_channels: 3, scaling_factor: 1 };
  const vae = new AutoencoderKL(
    { block_out_channels, layers_per_block, norm_num_groups, ...ends },
    { device },
  );
  initialise(vae, 1);
  return vae;
}

interface DenoiserSubject {
  readonly patch: number;
  readonly batch_size: number;
  readonly goal: number;
}

function denoiser(
  frames: RecordedFrames,
  vae: AutoencoderKL,
  { patch, batch_size, goal }: DenoiserSubject,
  tiny: boolean,
): Subject {
  const sizes = tiny
    ? { depth: 1, hidden_size: 32, num_heads: 2 }
    : { depth: 5, hidden_size: 192, num_heads: 4 };
  const precision = frames.device === "cpu" ? "fp32" : "bf16";
  const asked = { ...sizes, patch_size: [1, patch, patch], batch_size, precision };
  const latent = frames.size[0] / vae.downscale;
  const { chunk, condition_frame_length: memory } = denoiserSettings.parse(asked);
  const own = { in_channels: 4, pred_sigma: false, mlp_ratio: 4, action_dim: 7 };
  const model = { ...asked, ...own, vae_downscale: vae.downscale, input_sq_size: frames.size[0] };
  return {
    name: `denoiser, ${(latent / patch) ** 2} tokens a frame`,
    goal,
    request: { sizes: model, batch: batch_size, memory, chunk, latent, dtype: precision },
    measure: (way, seconds) =>
      pace(frames.device, seconds, () =>
        denoiserCourse(
          frames,
          vae,
          denoiserSettings.parse({ ...asked, ...graph(way) }),
          actionStatistics(frames),
        ),
      ),
  };
}

/** Steps a second, after the first ones, which compile, choose and capture. */
function pace<L extends Lesson<L>>(device: Device, seconds: number, enrol: () => Course<L>): number {
  const { training, teacher } = enrol();
  const step = (): void =>
    scope(() => {
      withStreams(0, training.step, device, (random) => {
        const { loss, gradNorm } = training.take(teacher(random));
        for (const number of [loss, gradNorm]) number.dispose();
      });
    });
  try {
    for (let i = 0; i < 3; i++) step();
    synchronize();
    const began = performance.now();
    let steps = 0;
    while (performance.now() - began < seconds * 1000 || steps < 2) {
      for (let i = 0; i < 2; i++) step();
      steps += 2;
      if (steps % 10 === 0) synchronize(); // as the loop's report does: what is queued must not count as done
    }
    synchronize();
    return (steps * 1000) / (performance.now() - began);
  } finally {
    training.dispose();
  }
}
