/**
 * `npm run bench -- world-training --device cuda [--seconds 1] [--only denoiser]`: optimizer steps a second of the networks
 * of a small OpenSora world, in the sizes of docs/worlds.md, and of Wan's denoiser, on random recordings made in memory.
 *
 * A step is all of it: drawing a lesson, forward, backward, clipping, AdamW with float32 masters, averaged weights. Three ways:
 * operator by operator, as a captured graph, and captured with fused kernels; beside them the denoisers' step in eager
 * PyTorch (world_training_reference.py, on one fixed lesson). Numbers are printed as they are measured; one that fails leaves
 * the others alone. `--tiny` tries the bench itself on a CPU.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allowTf32, type Device, useKernels } from "#tensor";
import type { BenchOptions } from "./main.ts";
import { benchPython, Reference, torchNeeds } from "./python.ts";
import { type BenchRow, moreIsBetter } from "./row.ts";
import { type Subject, subjects, type Way } from "./world-training-subjects.ts";

/** In this order: what training does, then what it is compared with, then what is slow. */
const ways: readonly Way[] = [
  { name: "captured, fused", cuda_graph: true, kernels: true },
  { name: "captured", cuda_graph: true, kernels: false },
  { name: "plain", cuda_graph: false, kernels: false },
];

interface Measured {
  readonly subject: Subject;
  readonly name: string;
  readonly rate: number;
}

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  const { values } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: { seconds: { type: "string" }, only: { type: "string" }, tiny: { type: "boolean" } },
  });
  const tiny = values.tiny === true || device === "cpu";
  const seconds = Number(values.seconds ?? (tiny ? 0.2 : 1));
  if (device === "cuda") allowTf32(true);
  const all = subjects(device, tiny).filter(({ name }) => name.includes(`${values.only ?? ""}`));
  const [first, ...others] = device === "cuda" ? ways : ways.slice(-1);
  const measured = measureWay(all, first!, seconds);
  const theirs = await measureTheirs(all, device, seconds);
  for (const way of others) measured.push(...measureWay(all, way, seconds));
  const goals = tiny ? [] : all.filter(({ goal }) => goal !== undefined);
  return [
    ...measured.map((one) => rowOf(one, theirs.get(one.subject.name))),
    ...goals.map((subject) => againstGoal(subject, measured)),
  ];
}

/** Every subject by one way; each number is printed when it is known, so that a run that is cut short leaves something. */
function measureWay(all: readonly Subject[], way: Way, seconds: number): Measured[] {
  const before = useKernels(way.kernels);
  const measured = all.flatMap((subject) => {
    const name = `${subject.name}, ${way.name}`;
    const rate = attempt(name, () => subject.measure(way, seconds));
    if (rate === undefined) return [];
    console.error(`${name}: ${rate.toFixed(1)} steps/s`);
    return [{ subject, name, rate }];
  });
  useKernels(before);
  return measured;
}

const rowOf = ({ name, rate }: Measured, theirs: number | undefined): BenchRow =>
  moreIsBetter({ name, unit: "steps/s", ours: rate, ...(theirs !== undefined && { reference: theirs }) });

/** The fastest way of a subject. */
function againstGoal(subject: Subject, measured: readonly Measured[]): BenchRow {
  const own = measured.filter((one) => one.subject === subject).map(({ rate }) => rate);
  const name = `${subject.name}, best, against the goal`;
  return moreIsBetter({
    name,
    unit: "steps/s",
    ours: Math.max(0, ...own),
    reference: subject.goal!,
    goal: 1,
  });
}

function attempt<T>(name: string, body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    console.error(`${name} failed: ${error instanceof Error ? error.stack : error}`);
    return undefined;
  }
}

function startReference(): Reference | undefined {
  const script = fileURLToPath(new URL("world_training_reference.py", import.meta.url));
  return attempt("PyTorch", () => new Reference(benchPython(torchNeeds), script));
}

/** Steps a second in PyTorch, by subject; those that it does not know or cannot run are left out. */
async function measureTheirs(
  all: readonly Subject[],
  device: Device,
  seconds: number,
): Promise<ReadonlyMap<string, number>> {
  const rates = new Map<string, number>();
  const reference = startReference();
  for (const { name, request } of reference ? all : []) {
    if (!request) continue;
    const answer = await reference!
      .ask<{ rate?: number; error?: string }>({ ...request, device, seconds })
      .catch((error: unknown) => ({ error: `${error}` }));
    if ("rate" in answer && answer.rate !== undefined) {
      rates.set(name, answer.rate);
      console.error(`${name}, eager PyTorch: ${answer.rate.toFixed(1)} steps/s`);
    } else console.error(`${name}: PyTorch failed: ${answer.error}`);
  }
  reference?.close();
  return rates;
}
