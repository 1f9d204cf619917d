/**
 * Each frame beside the two before it, while a network learns: what a causal convolution over time reads as one matrix product.
 *
 * One kernel there, one back, for bfloat16 on a GPU; by plain operators it is two joins there, and slices and sums of whole
 * videos back. The first frame stands in for those that are missing. Sums in float32, without atomics.
 *
 * Shapes: B videos, T frames, P positions, C channels (a multiple of 8).
 */
import { empty, kernel, kernelFit, type Tensor, withGradient } from "#tensor";

const threads = 256;

/** A thread has eight channels of one place: `i` counts them as [B, T, P, C / 8]. */
const place = `
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  int e = i % row, p = i / row % positions, t = i / row / positions % frames, video = i / row / positions / frames;`;

export const frameTaps = kernel(
  "frame_taps",
  `
extern "C" __global__ void frame_taps(const bf16* x, bf16* out, int eights, int row, int positions, int frames) {
  ${place}
  for (int k = 0; k < 3; k++) {
    int from = t + k < 2 ? 0 : t + k - 2;
    ((Eight*)out)[((size_t)i / row * 3 + k) * row + e] = ((const Eight*)x)[(((size_t)video * frames + from) * positions + p) * row + e];
  }
}`,
);

/** A frame was read by itself and the two after it; the first also by those that missed one. */
export const frameTapsGradient = kernel(
  "frame_taps_gradient",
  `
extern "C" __global__ void frame_taps_gradient(const bf16* grad, bf16* of_x, int eights, int row, int positions, int frames) {
  ${place}
  float sum[8] = {};
  for (int k = 0; k < 3; k++) {
    int last = t + 2 - k;
    for (int reader = t > 0 ? last : 0; reader <= last && reader < frames; reader++) {
      Eight d = ((const Eight*)grad)[((((size_t)video * frames + reader) * positions + p) * 3 + k) * row + e];
      for (int c = 0; c < 8; c++) sum[c] += wide(d.x[c]);
    }
  }
  Eight r;
  for (int c = 0; c < 8; c++) r.x[c] = narrow(sum[c]);
  ((Eight*)of_x)[i] = r;
}`,
);

/** Blocks and threads, and the numbers after the tensors, of both kernels; exported for tests. */
export function frameTapsLaunch([videos = 0, frames = 0, positions = 0, channels = 0]: readonly number[]) {
  const row = channels / 8;
  const eights = videos * frames * positions * row;
  const size = { blocks: Math.ceil(eights / threads), threads };
  return { size, numbers: [eights, row, positions, frames].map((int) => ({ int })) };
}

/** [B, T, P, C] to [B, T, P, 3·C], oldest frame first, recorded for gradients; null where no kernel fits. */
export function fusedFrameTaps(x_BTPC: Tensor): Tensor | null {
  const channels = x_BTPC.shape[3]!;
  if (channels % 8 !== 0 || kernelFit(x_BTPC) !== "recorded") return null;
  const { size, numbers } = frameTapsLaunch(x_BTPC.shape);
  const shape = [...x_BTPC.shape.slice(0, 3), 3 * channels];
  const out = empty(shape, { dtype: "bfloat16", device: x_BTPC.device });
  frameTaps(size, [x_BTPC, out, ...numbers]);
  const back = [{ gradOutput: 0 }, { gradInput: 0 }, ...numbers];
  return withGradient(out, [x_BTPC], frameTapsGradient, size, back);
}
