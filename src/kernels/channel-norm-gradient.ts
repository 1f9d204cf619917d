/**
 * The norm over channels with its SiLU while a network learns: one kernel there, one back, for bfloat16 on a GPU.
 *
 * x / |x| · √C · gamma, as Wan's autoencoder has it before every convolution. By plain operators that is a dozen passes over a video
 * there and twice as many back; here each number is read once, and once more for the gradients. A few neighboring threads share
 * a row; sums in float32, in a fixed order, without atomics. Forward it rounds as `fusedChannelNorm` does, which
 * gives every row a warp: right for the wide rows of published worlds, but of 32 channels four threads would work and 28 wait.
 *
 * Shapes: R rows (positions of frames), C channels (a multiple of 8, at most 256).
 */
import { empty, kernelFit, type Tensor, withGradients } from "#tensor";
import { columnSums } from "./column-sums.ts";
import { type KernelPair, kernelPair } from "./kernel-pair.ts";

const threads = 256;
const widest = 256;
const mostBlocks = 1056; // eight for each multiprocessor of the largest GPU of today

/** Threads that share a row, eight channels each: a power of two, so that they can add up among themselves. */
const lanesOf = (channels: number): number => 2 ** Math.ceil(Math.log2(channels / 8));

/** A loop over this thread's rows; `lane` has channels of its own where it is below the row's eights. */
const rows = (channels: number, body: string): string => `
  int lane = threadIdx.x % ${lanesOf(channels)}, mine = lane < ${channels / 8};
  for (int row = blockIdx.x * ${threads / lanesOf(channels)} + threadIdx.x / ${lanesOf(channels)}; row < padded; row += gridDim.x * ${threads / lanesOf(channels)}) {
    size_t at = (size_t)row * ${channels / 8} + lane;
    int here = mine && row < rows;
    ${body}
  }`;

const overRow = (channels: number, name: string): string =>
  `for (int offset = ${lanesOf(channels)} / 2; offset > 0; offset /= 2) ${name} += __shfl_xor_sync(0xffffffffu, ${name}, offset);`;

const lengthOf = (channels: number): string => `
    Eight v = {};
    if (here) v = ((const Eight*)x)[at];
    float square = 0;
    for (int k = 0; k < 8; k++) { float f = wide(v.x[k]); square += f * f; }
    ${overRow(channels, "square")}
    float length = fmaxf(rounded(sqrtf(square)), 1e-12f);`;

export function recordedNormSource(name: string, channels: number, silu: boolean): string {
  return `
extern "C" __global__ void ${name}(const bf16* x, const bf16* gamma, bf16* out, int rows, int padded, float root) {
  ${rows(
    channels,
    `${lengthOf(channels)}
    if (!here) continue;
    Eight g = ((const Eight*)gamma)[lane], r;
    for (int k = 0; k < 8; k++) {
      float y = rounded(rounded(rounded(wide(v.x[k]) / length) * root) * wide(g.x[k]));
      r.x[k] = narrow(${silu ? "y / (1.0f + __expf(-y))" : "y"});
    }
    ((Eight*)out)[at] = r;`,
  )}
}`;
}

/** Of y = silu(n · root · gamma), n = x / |x|: the part of n's gradient along n does not move x. */
export function recordedNormGradientSource(name: string, channels: number, silu: boolean): string {
  const slope = silu ? "float s = 1.0f / (1.0f + __expf(-z)); down *= s * (1.0f + z * (1.0f - s));" : "";
  const lanes = lanesOf(channels);
  return `
extern "C" __global__ void ${name}(const bf16* x, const bf16* gamma, const bf16* grad, bf16* of_x, float* of_gamma, int rows, int padded, float root) {
  __shared__ float parts[${threads / lanes}][${channels}];
  float scale[8] = {}, own[8] = {};
  if (threadIdx.x % ${lanes} < ${channels / 8}) for (int k = 0; k < 8; k++) scale[k] = root * wide(gamma[threadIdx.x % ${lanes} * 8 + k]);
  ${rows(
    channels,
    `${lengthOf(channels)}
    Eight d = {};
    if (here) d = ((const Eight*)grad)[at];
    float of_n[8], along = 0;
    for (int k = 0; k < 8; k++) {
      float n = wide(v.x[k]) / length, z = n * scale[k], down = wide(d.x[k]);
      ${slope}
      own[k] += down * n * root;
      of_n[k] = down * scale[k];
      along += of_n[k] * n;
    }
    ${overRow(channels, "along")}
    if (!here) continue;
    Eight r;
    for (int k = 0; k < 8; k++) r.x[k] = narrow((of_n[k] - wide(v.x[k]) / length * along) / length);
    ((Eight*)of_x)[at] = r;`,
  )}
  if (mine) for (int k = 0; k < 8; k++) parts[threadIdx.x / ${lanes}][lane * 8 + k] = own[k];
  __syncthreads();
  for (int c = threadIdx.x; c < ${channels}; c += ${threads}) {
    float sum = 0;
    for (int p = 0; p < ${threads / lanes}; p++) sum += parts[p][c];
    of_gamma[(size_t)blockIdx.x * ${channels} + c] = sum;
  }
}`;
}

/** Names the two kernels for so many channels; exported for tests that run their sources elsewhere. */
export const channelNormKernels = (channels: number, silu: boolean): KernelPair =>
  kernelPair(
    `recorded_norm${silu ? "_silu" : ""}_${channels}`,
    (name) => recordedNormSource(name, channels, silu),
    (name) => recordedNormGradientSource(name, channels, silu),
  );

/** Blocks and threads, and the numbers after the tensors, of both kernels; rows are padded so that whole warps go round together. */
export function channelNormLaunch(count: number, channels: number) {
  const perBlock = threads / lanesOf(channels);
  const blocks = Math.ceil(count / perBlock);
  return {
    size: { blocks: Math.min(blocks, mostBlocks), threads },
    numbers: [{ int: count }, { int: blocks * perBlock }, { float: Math.sqrt(channels) }],
  };
}

/** x / |x| · √C · gamma over the last axis, and SiLU if wanted, recorded for gradients; null where no kernel fits. */
export function recordedChannelNorm(x: Tensor, gamma_C: Tensor, silu: boolean): Tensor | null {
  const channels = x.shape.at(-1)!;
  if (channels % 8 !== 0 || channels > widest || kernelFit(x, gamma_C) !== "recorded") return null;
  const { forward, backward } = channelNormKernels(channels, silu);
  const { size, numbers } = channelNormLaunch(x.numel / channels, channels);
  const out = empty(x.shape, { dtype: "bfloat16", device: x.device });
  forward(size, [x, gamma_C, out, ...numbers]);
  const into = [{ gradOutput: 0 }, { gradInput: 0 }, { scratch: 0 }];
  const launches = [
    { kernel: backward, size, args: [x, gamma_C, ...into, ...numbers] },
    columnSums(size.blocks, [channels], [1]),
  ];
  return withGradients([out], [x, gamma_C], launches, [size.blocks * channels])[0]!;
}
