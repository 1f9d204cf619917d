/**
 * The norm and SiLU before a causal convolution over time, written where the convolution reads: for bfloat16 on a GPU.
 *
 * Such a convolution sees three frames at once. Run as a convolution over pictures, it wants them side by side as channels; this
 * kernel puts each normed row there three times, instead of one pass for the norm, one to join the frames before, and three
 * to put them side by side. Rounds as `fusedChannelNorm` does. Answers null where it does not apply.
 *
 * Shapes: B videos, T frames, P positions, C channels, Q frames before (at most two).
 */
import { empty, fusable, type Kernel, kernel, type Tensor } from "#tensor";
import { rowAndLength } from "./pictures.ts";

const warpsPerBlock = 8;

/** One warp per row; the rows of frame 0 also bring what stands before it. */
export function normTapsSource(name: string, width: number): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  return `
extern "C" __global__ void ${name}(const bf16* x, const bf16* gamma, const bf16* past, bf16* out, int rows, int frames, int positions, int before, float root) {
  int row = blockIdx.x * ${warpsPerBlock} + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int position = row % positions, frame = row / positions % frames, video = row / positions / frames;
${rowAndLength(width)}  size_t apart = (size_t)positions * ${3 * eights}; // from one frame's row to the next frame's
  Eight* here = (Eight*)out + (size_t)row * ${3 * eights};
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    Eight g = ((const Eight*)gamma)[e], r;
    for (int k = 0; k < 8; k++) {
      float y = rounded(rounded(rounded(wide(v[i].x[k]) / length) * root) * wide(g.x[k]));
      r.x[k] = narrow(y / (1.0f + expf(-y)));
    }
    here[e + ${2 * eights}] = r;
    if (frame + 1 < frames) here[apart + e + ${eights}] = r;
    if (frame + 2 < frames) here[2 * apart + e] = r;
    if (frame > 0) continue;
    Eight last = {}, other = {};
    const Eight* old = (const Eight*)past + ((size_t)video * before * positions + position) * ${eights} + e;
    size_t next = (size_t)positions * ${eights};
    if (before > 0) last = old[(before - 1) * next];
    if (before > 1) other = old[0];
    here[e + ${eights}] = last;
    here[e] = other;
    if (frames > 1) here[apart + e] = last;
  }
}`;
}

const kernels = new Map<number, Kernel>();

/** [B, T, P, C] to [B, T, P, 3·C]: each frame's row beside those of the two frames before it, oldest first. */
export function fusedNormTaps(x_BTPC: Tensor, gamma_C: Tensor, past_BQPC: Tensor | undefined): Tensor | null {
  const [videos = 0, frames = 0, positions = 0, width = 0] = x_BTPC.shape;
  const before = past_BQPC?.shape[1] ?? 0;
  if (width % 8 !== 0 || width > 2048 || before > 2) return null;
  if (!fusable(x_BTPC, gamma_C, ...(past_BQPC ? [past_BQPC] : []))) return null;
  const name = `norm_taps_${width}`;
  const run = kernels.get(width) ?? kernel(name, normTapsSource(name, width));
  kernels.set(width, run);
  const out = empty([videos, frames, positions, 3 * width], { dtype: "bfloat16", device: x_BTPC.device });
  const rows = videos * frames * positions;
  const numbers = [rows, frames, positions, before].map((int) => ({ int }));
  run({ blocks: Math.ceil(rows / warpsPerBlock), threads: 32 * warpsPerBlock }, [
    x_BTPC,
    gamma_C,
    past_BQPC ?? gamma_C,
    out,
    ...numbers,
    { float: Math.sqrt(width) },
  ]);
  return out;
}
