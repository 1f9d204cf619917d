/**
 * Rotary positions on packed heads while a network learns, one kernel there and the same one back, for bfloat16 on a GPU.
 *
 * Pairs (2i, 2i + 1) of every head turn by an angle of their token; the gradient turns back. Su et al. 2021,
 * https://arxiv.org/abs/2104.09864. Computed in float32 from float32 tables, rounded once.
 *
 * Shapes: B sequences of L tokens, H heads, E head width (a multiple of 8), D = H · E.
 */
import { empty, kernel, kernelFit, type Tensor, withGradient } from "#tensor";
import type { PairTable } from "./heads.ts";

export const rotatePairs = kernel(
  "rotate_pairs",
  `
extern "C" __global__ void rotate_pairs(const bf16* x, bf16* out, const float* cosines, const float* sines, int eights, int row_eights, int head, int length, float sign) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  int token = i / row_eights % length;
  size_t pair = (size_t)token * (head / 2) + i % row_eights * 8 % head / 2;
  Eight v = ((const Eight*)x)[i], r;
  for (int p = 0; p < 4; p++) {
    float even = wide(v.x[2 * p]), odd = wide(v.x[2 * p + 1]), c = cosines[pair + p], s = sign * sines[pair + p];
    r.x[2 * p] = narrow(even * c - odd * s);
    r.x[2 * p + 1] = narrow(even * s + odd * c);
  }
  ((Eight*)out)[i] = r;
}`,
);

/** Blocks and threads, and the numbers after the tables, for [B, L, D] with heads of `head` channels; exported for tests. */
export function rotatePairsLaunch([batch = 0, length = 0, width = 0]: readonly number[], head: number) {
  const eights = (batch * length * width) / 8;
  const size = { blocks: Math.ceil(eights / 256), threads: 256 };
  return { size, numbers: [eights, width / 8, head, length].map((int) => ({ int })) };
}

/** [B, L, H·E] turned by float32 tables [L, E/2], recorded for gradients; null where no kernel fits. */
export function fusedRotatePairs(x_BLD: Tensor, { cos, sin }: PairTable): Tensor | null {
  const head = 2 * cos.shape[1]!;
  const fits = head % 8 === 0 && x_BLD.shape[2]! % head === 0 && cos.shape[0] === x_BLD.shape[1];
  const single = cos.dtype === "float32" && sin.dtype === "float32" && cos.isContiguous && sin.isContiguous;
  if (!fits || !single || kernelFit(x_BLD) !== "recorded") return null;
  const out = empty(x_BLD.shape, { dtype: "bfloat16", device: x_BLD.device });
  const { size, numbers } = rotatePairsLaunch(x_BLD.shape, head);
  rotatePairs(size, [x_BLD, out, cos, sin, ...numbers, { float: 1 }]);
  const back = [{ gradOutput: 0 }, { gradInput: 0 }, cos, sin, ...numbers, { float: -1 }];
  return withGradient(out, [x_BLD], rotatePairs, size, back);
}
