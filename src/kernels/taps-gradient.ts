/**
 * Each frame beside the two before it, while a network learns: what a causal convolution over time reads as one matrix product.
 *
 * One kernel there, one back, for bfloat16 on a GPU; by plain operators it is two joins there, and slices and sums of whole
 * videos back. The first frame, or zeros, stand in for those that are missing. Sums in float32, without atomics.
 *
 * Shapes: B videos, T frames, P positions, C channels (a multiple of 8).
 */
import { empty, kernel, kernelFit, type Tensor, withGradient } from "#tensor";

const threads = 256;

/** Frames that are missing before the first (at most two), and what stands in for them. */
export interface Before {
  readonly missing: number;
  readonly standIn: "first" | "zeros";
}

const twice: Before = { missing: 2, standIn: "first" };

/** A thread has eight channels of one place: `i` counts them as [B, T, P, C / 8]. */
const place = (frames: string): string => `
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  int e = i % row, p = i / row % positions, t = i / row / positions % ${frames}, video = i / row / positions / ${frames};`;

export const frameTaps = kernel(
  "frame_taps",
  `
extern "C" __global__ void frame_taps(const bf16* x, bf16* out, int eights, int row, int positions, int given, int made, int missing, int first_stands_in) {
  ${place("made")}
  for (int k = 0; k < 3; k++) {
    int from = t + k - missing;
    Eight v = {};
    if (from >= 0 || first_stands_in) v = ((const Eight*)x)[(((size_t)video * given + (from > 0 ? from : 0)) * positions + p) * row + e];
    ((Eight*)out)[((size_t)i / row * 3 + k) * row + e] = v;
  }
}`,
);

/** A frame was read by itself and the two after it; the first also by those that missed one, where it stood in. */
export const frameTapsGradient = kernel(
  "frame_taps_gradient",
  `
extern "C" __global__ void frame_taps_gradient(const bf16* grad, bf16* of_x, int eights, int row, int positions, int given, int made, int missing, int first_stands_in) {
  ${place("given")}
  float sum[8] = {};
  for (int k = 0; k < 3; k++) {
    int last = t + missing - k;
    int reader = t == 0 && first_stands_in ? 0 : last;
    for (reader = reader > 0 ? reader : 0; reader <= last && reader < made; reader++) {
      Eight d = ((const Eight*)grad)[((((size_t)video * made + reader) * positions + p) * 3 + k) * row + e];
      for (int c = 0; c < 8; c++) sum[c] += wide(d.x[c]);
    }
  }
  Eight r;
  for (int c = 0; c < 8; c++) r.x[c] = narrow(sum[c]);
  ((Eight*)of_x)[i] = r;
}`,
);

/** Blocks and threads, and the numbers after the tensors, of the way there and the way back; exported for tests. */
export function frameTapsLaunch(
  [videos = 0, given = 0, positions = 0, channels = 0]: readonly number[],
  { missing, standIn }: Before = twice,
) {
  const row = channels / 8;
  const made = given + missing - 2;
  const launch = (frames: number) => {
    const eights = videos * frames * positions * row;
    const numbers = [eights, row, positions, given, made, missing, standIn === "first" ? 1 : 0];
    return {
      size: { blocks: Math.ceil(eights / threads), threads },
      numbers: numbers.map((int) => ({ int })),
    };
  };
  return { made, there: launch(made), back: launch(given) };
}

/** [B, T, P, C] to [B, T + missing − 2, P, 3·C], oldest frame first, recorded for gradients; null where no kernel fits. */
export function fusedFrameTaps(x_BTPC: Tensor, before: Before = twice): Tensor | null {
  const [videos = 0, , positions = 0, channels = 0] = x_BTPC.shape;
  if (channels % 8 !== 0 || kernelFit(x_BTPC) !== "recorded") return null;
  const { made, there, back } = frameTapsLaunch(x_BTPC.shape, before);
  const out = empty([videos, made, positions, 3 * channels], { dtype: "bfloat16", device: x_BTPC.device });
  frameTaps(there.size, [x_BTPC, out, ...there.numbers]);
  const args = [{ gradOutput: 0 }, { gradInput: 0 }, ...back.numbers];
  return withGradient(out, [x_BTPC], frameTapsGradient, back.size, args);
}
