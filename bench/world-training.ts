/**
 * `npm run bench -- world-training --device cuda [--seconds 1.5] [--only denoiser]`: optimiser steps a second of the networks
 * of a small OpenSora world, in the sizes of docs/worlds.md, and of Wan's denoiser, on random recordings made in memory.
 *
 * A step is all of it: drawing a lesson, forward, backward, clipping, AdamW with float32 masters, averaged weights. Three ways:
 * operator by operator, as a captured graph, and captured with fused kernels; beside them the denoisers' step in eager
 * PyTorch (world_training_reference.py, on one fixed lesson). Rows are printed as they are measured; one that fails leaves
 * the others alone. `--tiny` tries the bench itself on a CPU.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allowTf32, type Device, useKernels } from "#tensor";
import type { BenchOptions } from "./main.ts";
import { benchPython, Reference } from "./python.ts";
import { type BenchRow, moreIsBetter, tableOf } from "./row.ts";
import { type Subject, subjects, type Way } from "./world-training-subjects.ts";

/** In this order: what has always worked, then the kernels, then what is slow. */
const ways: readonly Way[] = [
  { name: "captured", cuda_graph: true, kernels: false },
  { name: "captured, fused", cuda_graph: true, kernels: true },
  { name: "plain", cuda_graph: false, kernels: false },
];

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  const { values } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: { seconds: { type: "string" }, only: { type: "string" }, tiny: { type: "boolean" } },
  });
  const tiny = values.tiny === true || device === "cpu";
  const seconds = Number(values.seconds ?? (tiny ? 0.2 : 1.5));
  if (device === "cuda") allowTf32(true);
  const all = subjects(device, tiny).filter(({ name }) => name.includes(`${values.only ?? ""}`));
  const theirs = await measureTheirs(all, device, seconds);
  const rows: BenchRow[] = [];
  for (const way of device === "cuda" ? ways : ways.slice(-1)) {
    for (const subject of all) {
      const name = `${subject.name}, ${way.name}`;
      const row = attempt(name, () => measureOurs(subject, way, seconds, theirs.get(subject.name)));
      if (!row) continue;
      const table = tableOf([row]).split("\n");
      console.error(table.slice(rows.length === 0 ? 0 : 2).join("\n"));
      rows.push(row);
    }
  }
  const goals = tiny ? [] : all.filter(({ goal }) => goal !== undefined);
  return [...rows, ...goals.map(({ name, goal }) => againstGoal(name, rows, goal!))];
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
    if ("rate" in answer && answer.rate !== undefined) rates.set(name, answer.rate);
    else console.error(`${name}: PyTorch failed: ${answer.error}`);
  }
  reference?.close();
  return rates;
}
