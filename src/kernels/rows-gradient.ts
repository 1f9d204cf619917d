/**
 * A residual junction of a diffusion transformer while it learns: one kernel there, one kernel back, for bfloat16 on a GPU.
 *
 * sum = x + gate · branch, and normed = norm(sum) · (1 + scale) + shift; or the norm alone, where nothing joins. The plain operators
 * write and read a dozen tensors of x's size for it and reduce four of them for the gradients of the modulation (Peebles & Xie 2022,
 * https://arxiv.org/abs/2212.09748); here every tensor is read once, and a block owns a group of rows, so that its sums need no
 * atomics: the same bits every time. Forward it rounds to bfloat16 where the plain operators do; backward it computes in float32.
 *
 * Shapes: R rows, D width (a multiple of 8, at most 768), G groups of R / G consecutive rows, each with its row of a table [G, 6, D].
 */
import { empty, kernelFit, type Tensor, withGradients } from "#tensor";
import { type KernelPair, kernelPair } from "./kernel-pair.ts";

const warps = 4;
const widest = 768;
/** Shift, scale and gate of two halves: rows of a modulation table. */
const kinds = 6;

/** Columns of a row that a lane holds, eight at a time: `e` counts eights, `i` the lane's own. */
const each = (eights: number, body: string): string => `
  for (int i = 0; i < ${Math.ceil(eights / 32)}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    ${body}
  }`;

const warpSum = `
__device__ inline float warp_sum(float sum) {
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}`;

const joined = "narrow(wide(v[i].x[k]) + rounded(wide(g[i].x[k]) * wide(b.x[k])))";

export function joinSource(name: string, width: number, joins: boolean): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  return `${warpSum}
extern "C" __global__ void ${name}(const bf16* x, const bf16* branch, const bf16* gates, const bf16* table, bf16* sum_out, bf16* normed, int per_group, int gate, int shift, float eps) {
  int lane = threadIdx.x % 32;
  size_t group = blockIdx.x;
  const Eight* gate_row = (const Eight*)(gates + (group * ${kinds} + gate) * ${width});
  const Eight* shift_row = (const Eight*)(table + (group * ${kinds} + shift) * ${width});
  Eight a[${perLane}], m[${perLane}], g[${perLane}], v[${perLane}];
  ${each(eights, `a[i] = shift_row[e]; m[i] = shift_row[e + ${eights}]; ${joins ? "g[i] = gate_row[e];" : ""}`)}
  for (int row = threadIdx.x / 32; row < per_group; row += ${warps}) {
    size_t at = (group * per_group + row) * ${eights};
    float sum = 0, spread = 0;
    ${each(
      eights,
      `v[i] = ((const Eight*)x)[at + e];
    ${joins ? "Eight b = ((const Eight*)branch)[at + e];" : ""}
    for (int k = 0; k < 8; k++) { ${joins ? `v[i].x[k] = ${joined};` : ""} sum += wide(v[i].x[k]); }
    ${joins ? "((Eight*)sum_out)[at + e] = v[i];" : ""}`,
    )}
    float mean = warp_sum(sum) / ${width};
    ${each(eights, "for (int k = 0; k < 8; k++) { float d = wide(v[i].x[k]) - mean; spread += d * d; }")}
    float factor = rsqrtf(warp_sum(spread) / ${width} + eps);
    ${each(
      eights,
      `Eight r;
    for (int k = 0; k < 8; k++) {
      float normal = rounded((wide(v[i].x[k]) - mean) * factor);
      r.x[k] = narrow(rounded(normal * rounded(1.0f + wide(m[i].x[k]))) + wide(a[i].x[k]));
    }
    ((Eight*)normed)[at + e] = r;`,
    )}
  }
}`;
}

/** The sum over the warps of what each lane holds of a row, written by the first of them. */
const sumOverWarps = (from: string, to: string, eights: number): string => `
  ${each(eights, `for (int k = 0; k < 8; k++) parts[threadIdx.x / 32][e * 8 + k] = ${from}[i][k];`)}
  __syncthreads();
  for (int c = threadIdx.x; c < ${eights * 8}; c += ${32 * warps}) {
    float total = 0;
    for (int w = 0; w < ${warps}; w++) total += parts[w][c];
    ${to}[group * ${eights * 8} + c] = narrow(total);
  }
  __syncthreads();`;

export function joinGradientSource(name: string, width: number, joins: boolean): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  return `${warpSum}
extern "C" __global__ void ${name}(const bf16* of_sum, const bf16* of_normed, const bf16* sums, const bf16* branch, const bf16* gates, const bf16* table, bf16* of_x, bf16* of_branch, bf16* of_gate, bf16* of_shift, bf16* of_scale, int per_group, int gate, int shift, float eps) {
  __shared__ float parts[${warps}][${width}];
  int lane = threadIdx.x % 32;
  size_t group = blockIdx.x;
  const Eight* gate_row = (const Eight*)(gates + (group * ${kinds} + gate) * ${width});
  const Eight* scale_row = (const Eight*)(table + (group * ${kinds} + shift + 1) * ${width});
  Eight m[${perLane}], g[${perLane}], v[${perLane}], d[${perLane}];
  float shifts[${perLane}][8] = {}, scales[${perLane}][8] = {}, gated[${perLane}][8] = {};
  ${each(eights, `m[i] = scale_row[e]; ${joins ? "g[i] = gate_row[e];" : ""}`)}
  for (int row = threadIdx.x / 32; row < per_group; row += ${warps}) {
    size_t at = (group * per_group + row) * ${eights};
    float sum = 0, spread = 0, pull = 0, turn = 0;
    ${each(
      eights,
      `v[i] = ((const Eight*)sums)[at + e]; d[i] = ((const Eight*)of_normed)[at + e];
    for (int k = 0; k < 8; k++) sum += wide(v[i].x[k]);`,
    )}
    float mean = warp_sum(sum) / ${width};
    ${each(eights, "for (int k = 0; k < 8; k++) { float c = wide(v[i].x[k]) - mean; spread += c * c; }")}
    float factor = rsqrtf(warp_sum(spread) / ${width} + eps);
    ${each(
      eights,
      `for (int k = 0; k < 8; k++) {
      float normal = (wide(v[i].x[k]) - mean) * factor, down = wide(d[i].x[k]), scaled = down * (1.0f + wide(m[i].x[k]));
      shifts[i][k] += down;
      scales[i][k] += down * normal;
      pull += scaled;
      turn += scaled * normal;
    }`,
    )}
    pull = warp_sum(pull) / ${width};
    turn = warp_sum(turn) / ${width};
    ${each(
      eights,
      `Eight r;
    ${joins ? "Eight b = ((const Eight*)branch)[at + e], s = ((const Eight*)of_sum)[at + e], q;" : ""}
    for (int k = 0; k < 8; k++) {
      float normal = (wide(v[i].x[k]) - mean) * factor, scaled = wide(d[i].x[k]) * (1.0f + wide(m[i].x[k]));
      float down = factor * (scaled - pull - normal * turn)${joins ? " + wide(s.x[k])" : ""};
      r.x[k] = narrow(down);
      ${joins ? "q.x[k] = narrow(down * wide(g[i].x[k])); gated[i][k] += down * wide(b.x[k]);" : ""}
    }
    ((Eight*)of_x)[at + e] = r;
    ${joins ? "((Eight*)of_branch)[at + e] = q;" : ""}`,
    )}
  }
  ${sumOverWarps("shifts", "of_shift", eights)}
  ${sumOverWarps("scales", "of_scale", eights)}
  ${joins ? sumOverWarps("gated", "of_gate", eights) : ""}
}`;
}

/** Names the two kernels of a width; exported for tests that run their sources elsewhere. */
export const joinKernels = (width: number, joins: boolean): KernelPair =>
  kernelPair(
    `${joins ? "join" : "modulate"}_${width}`,
    (name) => joinSource(name, width, joins),
    (name) => joinGradientSource(name, width, joins),
  );

/** A table [G, 6, D], contiguous, and its rows [G, D] as they take gradients. */
export interface RecordedTable {
  readonly table_G6D: Tensor;
  readonly rows: readonly Tensor[];
}

/** Which rows: the norm's shift (its scale is the one after), and of the branch its table and gate. */
export interface Junction {
  readonly norm: { readonly by: RecordedTable; readonly shift: number };
  readonly join?: { readonly branch: Tensor; readonly by: RecordedTable; readonly gate: number };
  readonly eps: number;
}

export interface Joined {
  readonly sum: Tensor;
  readonly normed: Tensor;
}

/** Whether rows of this width can be joined by a kernel. */
export const junctionFits = (width: number): boolean => width % 8 === 0 && width <= widest;

/** sum and its modulated norm, recorded for gradients; null where no kernel fits. */
export function fusedJunction(x: Tensor, { norm, join, eps }: Junction): Joined | null {
  const width = x.shape.at(-1)!;
  const { table_G6D: table } = norm.by;
  const gates = join?.by.table_G6D ?? table;
  const branch = join?.branch ?? x;
  if (!junctionFits(width) || kernelFit(x, branch, table, gates) !== "recorded") return null;
  const { forward, backward } = joinKernels(width, join !== undefined);
  const place = { dtype: "bfloat16", device: x.device } as const;
  const [sum, normed] = [join ? empty(x.shape, place) : x, empty(x.shape, place)];
  const groups = table.shape[0]!;
  const size = { blocks: groups, threads: 32 * warps };
  const numbers = [x.numel / width / groups, join?.gate ?? 0, norm.shift].map((int) => ({ int }));
  const read = [branch, gates, table];
  forward(size, [x, ...read, sum, normed, ...numbers, { float: eps }]);
  const modulated = [norm.by.rows[norm.shift]!, norm.by.rows[norm.shift + 1]!];
  if (!join) {
    const given = { gradOutput: 0 } as const;
    const into = [{ gradInput: 0 }, { gradInput: 0 }, { gradInput: 1 }] as const; // the second and third are not written
    const args = [given, given, x, ...read, ...into, { gradInput: 1 }, { gradInput: 2 }, ...numbers] as const;
    const [out] = withGradients(
      [normed],
      [x, ...modulated],
      [{ kernel: backward, size, args: [...args, { float: eps }] }],
    );
    return { sum: x, normed: out! };
  }
  const into = [0, 1, 2, 3, 4].map((gradInput) => ({ gradInput }));
  const args = [{ gradOutput: 0 }, { gradOutput: 1 }, sum, ...read, ...into, ...numbers, { float: eps }];
  const inputs = [x, branch, join.by.rows[join.gate]!, ...modulated];
  const [first, second] = withGradients([sum, normed], inputs, [{ kernel: backward, size, args }]);
  return { sum: first!, normed: second! };
}
