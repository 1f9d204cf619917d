/**
 * Layer norm of rows with what diffusion transformers do around it, as one kernel each, for bfloat16 on a GPU.
 *
 * A row is normalized, then scaled and shifted: by numbers of its own group of rows (the modulation of a DiT, Peebles &
 * Xie 2022, https://arxiv.org/abs/2212.09748) or by learned numbers per column. A residual branch, gated or not, can be
 * added first. Rounds to bfloat16 where the plain operators do. Each answers null where it does not apply, and the
 * caller goes the plain way. No gradients: worlds imagine without.
 *
 * Shapes: R rows, D width (a multiple of 8, at most 4096), G groups of R / G consecutive rows, K numbers per group and column.
 */
import { empty, fusable, type Kernel, kernel, type Tensor } from "#tensor";

type Added = "nothing" | "branch" | "gated branch";
type Scaled = "by group" | "by column";

export const warpsPerBlock = 4;

/** One warp reads one row into registers: two passes for mean and spread cost no memory traffic. */
export function rowNormSource(name: string, width: number, added: Added, scaled: Scaled): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  const sum = {
    nothing: "",
    branch: "v[i].x[k] = narrow(wide(v[i].x[k]) + wide(b.x[k]));",
    "gated branch": "v[i].x[k] = narrow(wide(v[i].x[k]) + rounded(wide(g.x[k]) * wide(b.x[k])));",
  }[added];
  const scale =
    scaled === "by group"
      ? "narrow(rounded(rounded(normal) * rounded(1.0f + wide(m.x[k]))) + wide(a.x[k]))"
      : "narrow(normal * wide(m.x[k]) + wide(a.x[k]))";
  const offset = scaled === "by group" ? " + group" : "";
  return `
extern "C" __global__ void ${name}(const bf16* x, bf16* branch, const bf16* gate, const bf16* scale, const bf16* shift, bf16* out, int rows, int per_group, int stride, float eps) {
  int row = blockIdx.x * ${warpsPerBlock} + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  size_t at = (size_t)row * ${width}, group = (size_t)(row / per_group) * stride;
  Eight v[${perLane}];
  float sum = 0;
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    v[i] = ((const Eight*)(x + at))[e];
    ${added === "nothing" ? "" : "Eight b = ((const Eight*)(branch + at))[e];"}
    ${added === "gated branch" ? "Eight g = ((const Eight*)(gate + group))[e];" : ""}
    for (int k = 0; k < 8; k++) { ${sum} sum += wide(v[i].x[k]); }
    ${added === "nothing" ? "" : "((Eight*)(branch + at))[e] = v[i];"}
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  float mean = sum / ${width}, spread = 0;
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    if (lane + 32 * i >= ${eights}) continue;
    for (int k = 0; k < 8; k++) { float d = wide(v[i].x[k]) - mean; spread += d * d; }
  }
  for (int offset = 16; offset > 0; offset /= 2) spread += __shfl_xor_sync(0xffffffffu, spread, offset);
  float factor = rsqrtf(spread / ${width} + eps);
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    Eight m = ((const Eight*)(scale${offset}))[e], a = ((const Eight*)(shift${offset}))[e], r;
    for (int k = 0; k < 8; k++) { float normal = (wide(v[i].x[k]) - mean) * factor; r.x[k] = ${scale}; }
    ((Eight*)(out + at))[e] = r;
  }
}`;
}

const kernels = new Map<string, Kernel>();

function rowNorm(width: number, added: Added, scaled: Scaled): Kernel {
  const name = `row_norm_${width}_${added}_${scaled}`.replaceAll(" ", "_");
  const known = kernels.get(name) ?? kernel(name, rowNormSource(name, width, added, scaled));
  kernels.set(name, known);
  return known;
}

/** Where a group's numbers are: the table [G, K, D], and which of the K rows is the scale, the shift and the gate. */
export interface Modulation {
  readonly table_GKD: Tensor;
  readonly scale: number;
  readonly shift: number;
}

const widest = 4096;
const rowsOf = (x: Tensor): number => x.numel / (x.shape.at(-1) ?? 1);
const fits = (width: number): boolean => width % 8 === 0 && width <= widest;
const gridOf = (rows: number) => ({ blocks: Math.ceil(rows / warpsPerBlock), threads: 32 * warpsPerBlock });

/** norm(x) · (1 + scale) + shift, with the numbers of each row's group. */
export function fusedModulatedNorm(
  x: Tensor,
  { table_GKD, scale, shift }: Modulation,
  eps: number,
): Tensor | null {
  const width = x.shape.at(-1)!;
  if (!fits(width) || !fusable(x, table_GKD)) return null;
  const [groups = 1, kinds = 1] = table_GKD.shape;
  const rows = rowsOf(x);
  const out = empty(x.shape, { dtype: "bfloat16", device: x.device });
  const [scales, shifts] = [table_GKD.select(1, scale), table_GKD.select(1, shift)];
  const numbers = [rows, rows / groups, kinds * width].map((int) => ({ int }));
  rowNorm(
    width,
    "nothing",
    "by group",
  )(gridOf(rows), [x, x, x, scales, shifts, out, ...numbers, { float: eps }]);
  return out;
}

export interface SumAndNorm {
  readonly sum: Tensor;
  readonly normed: Tensor;
}

/** Learned numbers per column. */
export interface Affine {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** Which row of a table [G, K, D] gates a branch. */
export interface Gate {
  readonly table_GKD: Tensor;
  readonly gate: number;
}

/** sum = x + branch, or x + gate · branch (written over the branch), and the sum's norm, scaled and shifted. */
export function fusedSumNorm(
  x: Tensor,
  branch: Tensor,
  how: { readonly gate?: Gate; readonly by: Modulation | Affine },
  eps: number,
): SumAndNorm | null {
  const width = x.shape.at(-1)!;
  const { gate, by } = how;
  const grouped = "table_GKD" in by;
  const table = gate?.table_GKD ?? (grouped ? by.table_GKD : undefined);
  const read = [...(table ? [table] : []), ...(grouped ? [by.table_GKD] : [by.weight, by.bias])];
  if (!fits(width) || !fusable(x, branch, ...read)) return null;
  const [groups = 1, kinds = 1] = table?.shape ?? [];
  const rows = rowsOf(x);
  const normed = empty(x.shape, { dtype: "bfloat16", device: x.device });
  const gates = gate ? gate.table_GKD.select(1, gate.gate) : x;
  const [scales, shifts] = grouped
    ? [by.table_GKD.select(1, by.scale), by.table_GKD.select(1, by.shift)]
    : [by.weight, by.bias];
  const numbers = [rows, rows / groups, kinds * width].map((int) => ({ int }));
  const run = rowNorm(width, gate ? "gated branch" : "branch", grouped ? "by group" : "by column");
  run(gridOf(rows), [x, branch, gates, scales, shifts, normed, ...numbers, { float: eps }]);
  return { sum: branch.view([...x.shape]), normed };
}

const gatedSum = kernel(
  "gated_sum",
  `
extern "C" __global__ void gated_sum(const bf16* x, bf16* branch, const bf16* gate, int eights, int width_eights, int rows_per_group, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  int row = i / width_eights, column = i % width_eights;
  Eight a = ((const Eight*)x)[i], b = ((const Eight*)branch)[i];
  Eight g = ((const Eight*)(gate + (size_t)(row / rows_per_group) * stride))[column];
  for (int k = 0; k < 8; k++) b.x[k] = narrow(wide(a.x[k]) + rounded(wide(g.x[k]) * wide(b.x[k])));
  ((Eight*)branch)[i] = b;
}`,
);

/** x + gate · branch, written over the branch; `gate` is a row of the table's K. */
export function fusedGatedSum(x: Tensor, branch: Tensor, table_GKD: Tensor, gate: number): Tensor | null {
  const width = x.shape.at(-1)!;
  if (width % 8 !== 0 || !fusable(x, branch, table_GKD)) return null;
  const [groups = 1, kinds = 1] = table_GKD.shape;
  const eights = x.numel / 8;
  const numbers = [eights, width / 8, rowsOf(x) / groups, kinds * width].map((int) => ({ int }));
  gatedSum({ blocks: Math.ceil(eights / 256), threads: 256 }, [
    x,
    branch,
    table_GKD.select(1, gate),
    ...numbers,
  ]);
  return branch.view([...x.shape]);
}

const gatedGelu = kernel(
  "gated_gelu",
  `
extern "C" __global__ void gated_gelu(const bf16* both, bf16* out, int eights, int width_eights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  size_t row = i / width_eights, column = i % width_eights;
  const Eight* values = (const Eight*)both + row * 2 * width_eights + column;
  Eight v = values[0], g = values[width_eights], r;
  for (int k = 0; k < 8; k++) {
    float f = wide(g.x[k]);
    r.x[k] = narrow(wide(v.x[k]) * rounded(f * 0.5f * (1.0f + erff(f * 0.70710678f))));
  }
  ((Eight*)out)[i] = r;
}`,
);

/** value · gelu(gate) of rows that hold both halves, [..., 2·F] → [..., F]. */
export function fusedGatedGelu(both: Tensor): Tensor | null {
  const width = both.shape.at(-1)! / 2;
  if (width % 8 !== 0 || !fusable(both)) return null;
  const out = empty([...both.shape.slice(0, -1), width], { dtype: "bfloat16", device: both.device });
  const eights = out.numel / 8;
  const numbers = [eights, width / 8].map((int) => ({ int }));
  gatedGelu({ blocks: Math.ceil(eights / 256), threads: 256 }, [both, out, ...numbers]);
  return out;
}
