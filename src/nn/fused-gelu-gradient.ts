/**
 * GELU (tanh form) of a matrix product and its bias, while a network learns: one kernel there, one back, for bfloat16 on a GPU.
 *
 * Hendrycks & Gimpel 2016, https://arxiv.org/abs/1606.08415. The way back adds up the bias's gradient as it goes, so that the widest tensor
 * of a transformer is not read a second time for it. Sums in float32, in a fixed order. The sum with the bias is rounded to bfloat16
 * before the activation, as the plain operators round it.
 *
 * Shapes: R rows, F columns (a multiple of 8).
 */
import { empty, kernel, kernelFit, type Tensor, withGradients } from "#tensor";
import { columnSums } from "./fused-column-sums.ts";

const warps = 8;
const rowsPerBlock = 128;

const activation = `
__device__ inline float hyperbolic(float x) { // tanh of GELU's inner polynomial
  return 1.0f - 2.0f / (1.0f + __expf(2.0f * 0.7978845608f * (x + 0.044715f * x * x * x)));
}`;

/** A lane has eight columns, a warp every eighth row of the block. */
const placing = (body: string): string => `
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column_blocks = (eights + 31) / 32;
  int column = blockIdx.x % column_blocks * 32 + lane, block = blockIdx.x / column_blocks;
  bool live = column < eights;
  Eight b = {};
  if (live) b = ((const Eight*)bias)[column];
  int last = (block + 1) * ${rowsPerBlock} < rows ? (block + 1) * ${rowsPerBlock} : rows;
  for (int row = block * ${rowsPerBlock} + warp; live && row < last; row += ${warps}) {
    size_t at = (size_t)row * eights + column;
    Eight v = ((const Eight*)x)[at], r;
    ${body}
  }`;

export const biasGelu = kernel(
  "bias_gelu",
  `${activation}
extern "C" __global__ void bias_gelu(const bf16* x, const bf16* bias, bf16* out, int rows, int eights) {
  ${placing(`
    for (int k = 0; k < 8; k++) {
      float u = rounded(wide(v.x[k]) + wide(b.x[k]));
      r.x[k] = narrow(0.5f * u * (1.0f + hyperbolic(u)));
    }
    ((Eight*)out)[at] = r;`)}
}`,
);

export const biasGeluGradient = kernel(
  "bias_gelu_gradient",
  `${activation}
extern "C" __global__ void bias_gelu_gradient(const bf16* x, const bf16* bias, const bf16* grad, bf16* of_x, float* of_bias, int rows, int eights) {
  __shared__ float parts[${warps}][256];
  float sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  ${placing(`
    Eight d = ((const Eight*)grad)[at];
    for (int k = 0; k < 8; k++) {
      float u = rounded(wide(v.x[k]) + wide(b.x[k])), t = hyperbolic(u);
      float slope = 0.5f * (1.0f + t) + 0.5f * u * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * u * u);
      float down = wide(d.x[k]) * slope;
      r.x[k] = narrow(down);
      sums[k] += down;
    }
    ((Eight*)of_x)[at] = r;`)}
  for (int k = 0; k < 8; k++) parts[warp][lane * 8 + k] = sums[k];
  __syncthreads();
  int own = blockIdx.x % column_blocks * 256 + threadIdx.x; // as many threads as columns of a block
  if (own >= eights * 8) return;
  float total = 0;
  for (int w = 0; w < ${warps}; w++) total += parts[w][threadIdx.x];
  of_bias[(size_t)block * eights * 8 + own] = total;
}`,
);

/** Blocks and threads of both kernels, and how many rows of sums the way back leaves. */
export function biasGeluGrid(rows: number, width: number) {
  const parts = Math.ceil(rows / rowsPerBlock);
  return { size: { blocks: parts * Math.ceil(width / 256), threads: 32 * warps }, parts };
}

/** gelu(x + bias), recorded for gradients; null where no kernel fits. */
export function fusedBiasGelu(x_RF: Tensor, bias_F: Tensor): Tensor | null {
  const width = bias_F.shape[0]!;
  if (width % 8 !== 0 || kernelFit(x_RF, bias_F) !== "recorded") return null;
  const rows = x_RF.numel / width;
  const { size, parts } = biasGeluGrid(rows, width);
  const out = empty(x_RF.shape, { dtype: "bfloat16", device: x_RF.device });
  const numbers = [{ int: rows }, { int: width / 8 }];
  biasGelu(size, [x_RF, bias_F, out, ...numbers]);
  const args = [x_RF, bias_F, { gradOutput: 0 }, { gradInput: 0 }, { scratch: 0 }, ...numbers];
  const launches = [{ kernel: biasGeluGradient, size, args }, columnSums(parts, [width], [1])];
  return withGradients([out], [x_RF, bias_F], launches, [parts * width])[0]!;
}
