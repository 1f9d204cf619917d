/**
 * `npm run bench -- world-training-parts --device cuda`: where a denoiser's step goes, piece by piece, in microseconds.
 *
 * Sizes of one block of the small OpenSora world (batch 256, twelve frames, 16 patches, width 192). Each piece is captured ten times
 * over as a graph, so that launching costs nothing; "there and back" is forward and all gradients. The limit is the time
 * that its tensors take through memory at 4 TB/s, read or written once.
 */

import { fusedJunction, fusedShortAttention, type RecordedTable, shortAttentionFits } from "#kernels";
import { attention, Linear } from "#nn";
import { Generator, Graph, grad, noGrad, randn, scope, synchronize, type Tensor } from "#tensor";
import type { BenchOptions } from "./main.ts";
import { type BenchRow, lessIsBetter, tableOf } from "./row.ts";

const [videos, frames, patches, width, heads] = [256, 12, 16, 192, 4];
const rows = videos * frames * patches;
const repeats = 10;
const bytesPerMicrosecond = 4e6;

interface Piece {
  readonly name: string;
  readonly numbers: number; // read or written once, bfloat16
  run(): readonly Tensor[];
}

let seed = 0;
const drawn = (...shape: number[]): Tensor =>
  randn(shape, { device: "cuda", generator: new Generator(++seed, "cuda") }).bfloat16();
const learned = (...shape: number[]): Tensor => drawn(...shape).requiresGrad_();

/** Forward, then the gradients of all leaves. */
function thereAndBack(outputs: readonly (Tensor | undefined)[], leaves: readonly Tensor[]): Tensor[] {
  if (outputs.some((out) => !out)) throw new Error("the kernel stepped aside");
  const outs = outputs as Tensor[];
  return grad(outs, leaves, { gradOutputs: outs.map((out) => out.detach()) }) as Tensor[];
}

function products(): Piece[] {
  const [x, y, weight] = [drawn(rows, width), drawn(rows, 4 * width), drawn(4 * width, width)];
  const numbers = rows * 5 * width;
  const product = (name: string, run: () => Tensor): Piece => ({ name, numbers, run: () => [run()] });
  return [
    product("product 192 → 768", () => x.matmul(weight.transpose(0, 1))),
    product("gradient of its input", () => y.matmul(weight)),
    product("gradient of its weight", () => y.transpose(0, 1).matmul(x)),
    product("gradient of its weight, in 16 parts", () => inParts(x, y)),
    { name: "gradient of its bias", numbers: rows * 4 * width, run: () => [y.sum(0)] },
  ];
}

/** The sum over rows by hand, should the library not split it over the GPU. */
function inParts(x: Tensor, y: Tensor): Tensor {
  const [parts, share] = [16, rows / 16];
  return y
    .view([parts, share, 4 * width])
    .transpose(1, 2)
    .bmm(x.view([parts, share, width]))
    .sum(0);
}

function junction(): Piece {
  const shape = [videos, frames, patches, width] as const;
  const [x, branch, table] = [learned(...shape), learned(...shape), learned(videos * frames, 6, width)];
  const by = (): RecordedTable => ({ table_G6D: table, rows: table.unbind(1) });
  const run = (): Tensor[] => {
    const own = by();
    const joined = fusedJunction(x, {
      norm: { by: own, shift: 3 },
      join: { branch, by: own, gate: 2 },
      eps: 1e-6,
    });
    return thereAndBack([joined?.sum, joined?.normed], [x, branch, table]);
  };
  return { name: "junction, there and back", numbers: 10 * rows * width, run };
}

function looking(name: string, overTime: boolean): Piece {
  const head = width / heads;
  const [qkv, q, k] = [learned(videos, frames, patches, 3, heads, head), learned(head), learned(head)];
  const [length, inner] = overTime ? [frames, patches] : [patches, 1];
  const tables = { cos: drawn(frames, head / 2), sin: drawn(frames, head / 2) };
  const sizes = { length, heads, width: head, causal: overTime, rotates: overTime, norms: true };
  if (!shortAttentionFits(sizes)) {
    throw new Error("the kernel does not fit");
  }
  const how = { norm: { q_weight: q, k_weight: k, eps: 1e-6 }, length, inner, causal: overTime };
  const run = (): Tensor[] => {
    const out = fusedShortAttention(qkv, { ...how, ...(overTime && { rotary: tables }) });
    return thereAndBack([out ?? undefined], [qkv, q, k]);
  };
  return { name: `${name}, there and back`, numbers: rows * (3 + 1 + 3 + 1 + 3) * width, run };
}

/** The library's attention, with the moving of heads and frames that it needs, without norms and rotation. */
function libraryLooking(name: string, overTime: boolean): Piece {
  const qkv = learned(videos, frames, patches, 3, heads, width / heads);
  const order = overTime ? [0, 2, 3, 1, 4] : [0, 1, 3, 2, 4];
  const run = (): Tensor[] => {
    const [q, k, v] = qkv.unbind(3).map((x) => x.permute(order).flatten(0, 1));
    return thereAndBack([attention(q!, k!, v!, { causal: overTime })], [qkv]);
  };
  return { name: `${name}, the library's, there and back`, numbers: rows * 11 * width, run };
}

function feedForward(): Piece {
  const linear = new Linear(width, 4 * width, { device: "cuda", dtype: "bfloat16" });
  noGrad(() => linear.weight.copy_(drawn(4 * width, width)));
  const x = learned(rows, width);
  const run = (): Tensor[] => thereAndBack([linear.forwardGeluTanh(x)], [x, linear.weight, linear.bias!]);
  return { name: "product, bias and GELU, there and back", numbers: rows * (3 + 6 * 4) * width, run };
}

const pieces: readonly (() => Piece | Piece[])[] = [
  products,
  feedForward,
  junction,
  () => looking("attention over patches", false),
  () => looking("attention over frames", true),
  () => libraryLooking("attention over patches", false),
  () => libraryLooking("attention over frames", true),
];

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  if (device !== "cuda") throw new Error("these pieces are measured on a GPU: add --device cuda");
  const measured: BenchRow[] = [];
  for (const make of pieces) {
    try {
      for (const piece of [make()].flat()) measured.push(rowOf(piece));
    } catch (error) {
      console.error(`a piece failed: ${error instanceof Error ? error.stack : error}`);
    }
  }
  console.error(tableOf(measured));
  return measured;
}

function rowOf(piece: Piece): BenchRow {
  const limit = (2 * piece.numbers) / bytesPerMicrosecond;
  return lessIsBetter({ name: piece.name, unit: "µs", ours: microseconds(piece), limit });
}

function microseconds({ run }: Piece): number {
  const body = (): void =>
    scope(() => {
      for (let i = 0; i < repeats; i++) run();
    });
  const { graph } = Graph.capture(body, { warmups: 2 });
  const time = (): number => {
    synchronize();
    const began = performance.now();
    for (let i = 0; i < 5; i++) graph.replay();
    synchronize();
    return ((performance.now() - began) * 1000) / (5 * repeats);
  };
  const best = Math.min(time(), time(), time());
  graph.dispose();
  return best;
}
