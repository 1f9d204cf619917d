/**
 * Our tensor layer against Python's torch on the same libtorch: small operators, a training step, equal losses, and
 * opening a safetensors file. The two sides take turns, and each figure is the best of its rounds.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readSafetensors, writeSafetensors } from "#formats";
import {
  cat,
  fast,
  Generator,
  keep,
  liveTensors,
  ones,
  randint,
  randn,
  scope,
  synchronize,
  type Tensor,
  threadCount,
  zeros,
} from "#tensor";
import type { BenchOptions } from "./main.ts";
import { benchPython, Reference, torchNeeds } from "./python.ts";
import { type BenchRow, holds, lessIsBetter } from "./row.ts";
import { lossOf, optimizer, type Sizes, shapes } from "./transformer.ts";

const goals = { cpu: 0.8, cuda: 1.05 } as const; // of Python's time, for each small operator
const rounds = 9;
const windowSize = 500; // calls measured at a time
const smallSizes: Sizes = { width: 256, layers: 4, vocabulary: 512, length: 64, batch: 8 };
const largeSizes: Sizes = { width: 2048, layers: 4, vocabulary: 4096, length: 512, batch: 8 };

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  threadCount(1);
  const python = benchPython([...torchNeeds, "safetensors"]);
  const reference = new Reference(python, fileURLToPath(new URL("tensor_reference.py", import.meta.url)), [
    device,
    "1",
  ]);
  try {
    return [
      ...(await smallOperators(reference, device)),
      ...(await trainingStep(reference, device)),
      ...(await openingFiles(reference)),
    ];
  } finally {
    reference.close();
  }
}

// ---- small operators: what a call costs

async function smallOperators(reference: Reference, device: "cpu" | "cuda"): Promise<BenchRow[]> {
  const [one, matrix] = [ones([1], { device }), ones([8, 8], { device })];
  const wanting = ones([1], { device }).requiresGrad_();
  const add = fast("aten::add.Tensor");
  const mul = fast("aten::mul.Scalar");
  const matmul = fast("aten::matmul");
  const cases: [string, number, () => void][] = [
    ["add", 40_000, () => add(one, one)],
    ["add with gradient", 40_000, () => add(wanting, one)],
    ["multiply by a number", 40_000, () => mul(one, 0.5)],
    ["matmul 8x8", 20_000, () => matmul(matrix, matrix)],
  ];
  const rows: BenchRow[] = [];
  for (const [name, count, call] of cases) {
    let [ours, theirs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round++) {
      ours = Math.min(ours, nanoseconds(call, count));
      theirs = Math.min(theirs, (await reference.ask<{ ns: number }>({ kind: "small", name, count })).ns);
    }
    rows.push(
      lessIsBetter({ name: `${device}: ${name}`, unit: "ns", ours, reference: theirs, goal: goals[device] }),
    );
  }
  return [...rows, meanOf(rows, device)];
}

/** The four together, by the geometric mean. */
function meanOf(rows: readonly BenchRow[], device: "cpu" | "cuda"): BenchRow {
  const mean = (pick: (row: BenchRow) => number) =>
    Math.exp(rows.reduce((sum, row) => sum + Math.log(pick(row)), 0) / rows.length);
  return lessIsBetter({
    name: `${device}: small operators, geometric mean`,
    unit: "ns",
    ours: mean(({ ours }) => ours),
    reference: mean(({ reference }) => reference ?? Number.NaN),
    goal: goals[device],
  });
}

/**
 * Calls inside scopes of 100, as model code runs, including the freeing of results. Short windows and a low
 * percentile: on a busy machine some windows are undisturbed. On a GPU each window ends with a wait.
 */
function nanoseconds(call: () => void, count: number): number {
  const hundred = () => {
    for (let i = 0; i < 100; i++) call();
  };
  for (let i = 0; i < 20; i++) scope(hundred);
  const windows: number[] = [];
  for (let done = 0; done < count; done += windowSize) {
    synchronize();
    const start = process.hrtime.bigint();
    for (let i = 0; i < windowSize; i += 100) scope(hundred);
    synchronize();
    windows.push(Number(process.hrtime.bigint() - start) / windowSize);
  }
  windows.sort((a, b) => a - b);
  return windows[Math.floor(windows.length / 20)] as number;
}

/** Processor time on the CPU, which a busy machine disturbs less; the wall clock on a GPU. */
function millisecondClock(device: "cpu" | "cuda"): number {
  if (device === "cuda") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

// ---- a training step, and its losses

async function trainingStep(reference: Reference, device: "cpu" | "cuda"): Promise<BenchRow[]> {
  const sizes = device === "cpu" ? smallSizes : largeSizes;
  const { parameters, tokens, request, cleanUp } = startingPoint(sizes, device);
  const steps = device === "cpu" ? 4 : 10;
  const adam = optimizer(parameters);
  const step = () =>
    scope(() => {
      const loss = lossOf(parameters, tokens, sizes);
      loss.backward();
      adam.step();
      adam.zeroGrad();
      return loss.detach();
    });
  const ours: number[] = [];
  const theirs: number[] = [];
  const times = { ours: Number.POSITIVE_INFINITY, theirs: Number.POSITIVE_INFINITY };
  const living = liveTensors();
  for (let round = 0; round < Math.max(rounds, 20 / steps); round++) {
    synchronize();
    const start = millisecondClock(device);
    const losses = Array.from({ length: steps }, step);
    synchronize();
    times.ours = Math.min(times.ours, (millisecondClock(device) - start) / steps);
    for (const loss of losses) {
      ours.push(loss.item());
      loss.dispose();
    }
    const answer = await reference.ask<{ ms: number; losses: number[] }>({
      kind: "train",
      steps,
      ...(round === 0 ? request : {}),
    });
    times.theirs = Math.min(times.theirs, answer.ms);
    theirs.push(...answer.losses);
  }
  cleanUp();
  const differing = ours.slice(0, 20).filter((loss, i) => loss !== theirs[i]).length;
  const rows = [
    lessIsBetter({
      name: `${device}: training step, 4 layers`,
      unit: "ms",
      ours: times.ours,
      reference: times.theirs,
      goal: 1.03,
    }),
    holds(`${device}: tensors left over by training`, Math.max(0, liveTensors() - living), "tensors"),
  ];
  // bf16 kernels on a GPU choose their algorithms by heuristics; equality to the bit is a claim for the CPU alone
  if (device === "cpu")
    rows.splice(1, 0, holds("cpu: losses of 20 steps that differ from Python's", differing, "losses"));
  return rows;
}

/** The same weights for both sides, written as plain float32 bytes for Python. */
function startingPoint(sizes: Sizes, device: "cpu" | "cuda") {
  const folder = mkdtempSync(join(tmpdir(), "reverie-bench-"));
  const generator = new Generator(0);
  const index: [string, number[], number][] = [];
  const parts: Uint8Array[] = [];
  const parameters = new Map<string, Tensor>();
  let offset = 0;
  for (const [name, shape] of shapes(sizes)) {
    const last = shape.at(-1) ?? 1;
    const start =
      shape.length === 1
        ? /ln\d|final/.test(name) && name.endsWith(".w")
          ? ones(shape)
          : zeros(shape)
        : randn(shape, { generator }).div(Math.sqrt(last));
    const bytes = new Uint8Array(start.data().buffer);
    index.push([name, shape, offset]);
    parts.push(bytes);
    offset += bytes.length;
    const dtype = device === "cpu" ? "float32" : "bfloat16";
    parameters.set(name, keep(start.to({ device, dtype, copy: true })).requiresGrad_());
  }
  const path = join(folder, "start.bin");
  writeFileSync(path, Buffer.concat(parts));
  const tokens = randint(0, sizes.vocabulary, [sizes.batch, sizes.length + 1], { generator });
  const request = { path, index, sizes, tokens: tokens.toArray() };
  return {
    parameters,
    tokens: tokens.to({ device }),
    request,
    cleanUp: () => rmSync(folder, { recursive: true }),
  };
}

// ---- opening a file

async function openingFiles(reference: Reference): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "reverie-bench-"));
  const path = join(folder, "weights.safetensors");
  const block = cat(Array.from({ length: 8 }, () => ones([256, 1024])));
  await writeSafetensors(path, new Map(Array.from({ length: 64 }, (_, i) => [`layer.${i}.weight`, block])));
  const resident = () => process.memoryUsage.rss();
  const before = resident();
  const open = () => {
    const start = performance.now();
    const tensors = readSafetensors(path);
    return { tensors, ms: performance.now() - start };
  };
  const first = open();
  const bytes = Math.max(0, resident() - before);
  const again = Array.from({ length: 5 }, open);
  type Answer = { ms: number; bytes: number };
  const theirs = await reference.ask<Answer>({ kind: "open", path });
  const theirsAgain: number[] = [];
  for (let i = 0; i < 5; i++) theirsAgain.push((await reference.ask<Answer>({ kind: "open", path })).ms);
  rmSync(folder, { recursive: true });
  for (const { tensors } of [first, ...again]) for (const t of tensors.values()) t.dispose();
  const name = "open 512 MiB of safetensors";
  return [
    lessIsBetter({ name: `${name}, first time`, unit: "ms", ours: first.ms, reference: theirs.ms }),
    lessIsBetter({
      name: `${name}, again`,
      unit: "ms",
      ours: Math.min(...again.map(({ ms }) => ms)),
      reference: Math.min(...theirsAgain),
      goal: 1,
    }),
    lessIsBetter({
      name: "memory after opening it",
      unit: "MiB",
      ours: bytes / 2 ** 20,
      reference: theirs.bytes / 2 ** 20,
    }),
  ];
}
