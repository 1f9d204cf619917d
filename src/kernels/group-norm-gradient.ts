/**
 * Group norm with SiLU of pictures whose channels come last, while a network learns: one kernel there, one back, for bfloat16 on a GPU.
 *
 * Wu & He 2018, https://arxiv.org/abs/1803.08494. A block owns a picture: it reads it for the mean, again for the spread and again for the
 * result, from cache. torch's own norm wants channels first, and tensor cores want them last, so that every norm would turn the picture
 * round twice. Sums in float32, in a fixed order, without atomics.
 *
 * Shapes: N pictures, P pixels, C channels (8, 16, 32, … 256, or 48, 96, 192), G groups that divide them.
 */
import { empty, kernelFit, type Tensor, withGradients } from "#tensor";
import { columnSums } from "./column-sums.ts";
import { type KernelPair, kernelPair } from "./kernel-pair.ts";
import type { GroupNormParts } from "./pictures.ts";

/** How a block's threads share a picture: each keeps eight channels, so threads are a multiple of C / 8; a row of sums is left of `together`. */
function sharing(channels: number) {
  const eights = channels / 8;
  const inWarp = 32 % eights === 0; // the threads of a warp that have the same channels add theirs first
  const together = inWarp ? 32 : eights;
  return { eights, inWarp, together, most: inWarp ? 512 : 480, unit: inWarp ? 64 : 96 };
}

/** Threads of a block, for pictures of so many pixels: some four pixels each, as far as that goes. Exported for tests. */
export function groupNormThreads(channels: number, pixels: number): number {
  const { eights, most, unit } = sharing(channels);
  const wanted = Math.ceil((pixels * eights) / 4 / unit) * unit;
  return Math.min(most, Math.max(wanted, 2 * unit));
}

/** Each thread keeps eight channels through all of its pixels; `totals` are the sums over the picture, by channel. */
function pieces(channels: number): string {
  const { eights, inWarp, together } = sharing(channels);
  const leave = inWarp
    ? `for (int offset = 16; offset >= ${eights}; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 < ${eights}) parts[threadIdx.x / 32][column * 8 + k] = sum;`
    : `parts[threadIdx.x / ${eights}][column * 8 + k] = sum;`;
  return `
// adds what each thread has of its eight channels; afterwards totals[channel] is known to all
__device__ inline void channel_sums(float* totals, float (*parts)[${channels}], const float* own) {
  int column = threadIdx.x % ${eights};
  for (int k = 0; k < 8; k++) {
    float sum = own[k];
    ${leave}
  }
  __syncthreads();
  for (int c = threadIdx.x; c < ${channels}; c += blockDim.x) {
    float sum = 0;
    for (int r = 0; r < blockDim.x / ${together}; r++) sum += parts[r][c];
    totals[c] = sum;
  }
  __syncthreads();
}
__device__ inline float over_group(const float* totals, int channel, int size) {
  float sum = 0;
  for (int c = channel / size * size, end = c + size; c < end; c++) sum += totals[c];
  return sum;
}`;
}

/** A loop over this thread's pixels: `i` is the place of its eight channels. */
const pixels = (body: string): string =>
  `for (size_t i = first + threadIdx.x; i < first + eights; i += blockDim.x) { ${body} }`;

export function groupNormSource(name: string, channels: number, silu: boolean): string {
  const answer = silu ? "z / (1.0f + __expf(-z))" : "z";
  return `${pieces(channels)}
extern "C" __global__ void ${name}(const bf16* x, const bf16* weight, const bf16* bias, bf16* out, float* statistics, int eights, int groups, float eps) {
  __shared__ float parts[${sharing(channels).most / sharing(channels).together}][${channels}];
  __shared__ float totals[${channels}];
  int column = threadIdx.x % ${channels / 8} * 8, size = ${channels} / groups;
  size_t first = (size_t)blockIdx.x * eights;
  float count = (float)eights * 8 / groups, own[8] = {}, mean[8], factor[8];
  ${pixels("Eight v = ((const Eight*)x)[i]; for (int k = 0; k < 8; k++) own[k] += wide(v.x[k]);")}
  channel_sums(totals, parts, own);
  for (int k = 0; k < 8; k++) { mean[k] = over_group(totals, column + k, size) / count; own[k] = 0; }
  __syncthreads();
  ${pixels("Eight v = ((const Eight*)x)[i]; for (int k = 0; k < 8; k++) { float d = wide(v.x[k]) - mean[k]; own[k] += d * d; }")}
  channel_sums(totals, parts, own);
  float w[8], b[8];
  for (int k = 0; k < 8; k++) {
    factor[k] = rsqrtf(over_group(totals, column + k, size) / count + eps);
    w[k] = wide(weight[column + k]);
    b[k] = wide(bias[column + k]);
  }
  if (threadIdx.x < ${channels / 8}) for (int k = 0; k < 8; k++) {
    float* two = statistics + ((size_t)blockIdx.x * ${channels} + column + k) * 2;
    two[0] = mean[k];
    two[1] = factor[k];
  }
  ${pixels(`Eight v = ((const Eight*)x)[i], r;
    for (int k = 0; k < 8; k++) { float z = (wide(v.x[k]) - mean[k]) * factor[k] * w[k] + b[k]; r.x[k] = narrow(${answer}); }
    ((Eight*)out)[i] = r;`)}
}`;
}

export function groupNormGradientSource(name: string, channels: number, silu: boolean): string {
  const slope = silu
    ? "float z = normal * w[k] + b[k], s = 1.0f / (1.0f + __expf(-z)); down *= s * (1.0f + z * (1.0f - s));"
    : "";
  const step = `float normal = (wide(v.x[k]) - mean[k]) * factor[k], down = wide(d.x[k]); ${slope}`;
  const read = "Eight v = ((const Eight*)x)[i], d = ((const Eight*)grad)[i]";
  return `${pieces(channels)}
extern "C" __global__ void ${name}(const bf16* x, const bf16* weight, const bf16* bias, const float* statistics, const bf16* grad, bf16* of_x, float* of_weights, int eights, int groups) {
  __shared__ float parts[${sharing(channels).most / sharing(channels).together}][${channels}];
  __shared__ float shifts[${channels}], scales[${channels}], weighted[${channels}];
  int column = threadIdx.x % ${channels / 8} * 8, size = ${channels} / groups;
  size_t first = (size_t)blockIdx.x * eights;
  float count = (float)eights * 8 / groups, of_b[8] = {}, of_w[8] = {}, mean[8], factor[8], w[8], b[8], pull[8], turn[8];
  for (int k = 0; k < 8; k++) {
    const float* two = statistics + ((size_t)blockIdx.x * ${channels} + column + k) * 2;
    mean[k] = two[0];
    factor[k] = two[1];
    w[k] = wide(weight[column + k]);
    b[k] = wide(bias[column + k]);
  }
  ${pixels(`${read}; for (int k = 0; k < 8; k++) { ${step} of_b[k] += down; of_w[k] += down * normal; }`)}
  channel_sums(shifts, parts, of_b);
  channel_sums(scales, parts, of_w);
  for (int c = threadIdx.x; c < ${channels}; c += blockDim.x) {
    float* own = of_weights + (size_t)blockIdx.x * ${2 * channels} + c;
    own[0] = scales[c];
    own[${channels}] = shifts[c];
    weighted[c] = shifts[c] * wide(weight[c]);
  }
  __syncthreads();
  for (int k = 0; k < 8; k++) pull[k] = over_group(weighted, column + k, size) / count;
  __syncthreads();
  for (int c = threadIdx.x; c < ${channels}; c += blockDim.x) weighted[c] = scales[c] * wide(weight[c]);
  __syncthreads();
  for (int k = 0; k < 8; k++) turn[k] = over_group(weighted, column + k, size) / count;
  ${pixels(`${read}, r;
    for (int k = 0; k < 8; k++) { ${step} r.x[k] = narrow(factor[k] * (down * w[k] - pull[k] - normal * turn[k])); }
    ((Eight*)of_x)[i] = r;`)}
}`;
}

/** Names the two kernels for so many channels; exported for tests that run their sources elsewhere. */
export const groupNormKernels = (channels: number, silu: boolean): KernelPair =>
  kernelPair(
    `group_norm${silu ? "_silu" : ""}_${channels}`,
    (name) => groupNormSource(name, channels, silu),
    (name) => groupNormGradientSource(name, channels, silu),
  );

/** Whether kernels can be made for so many channels. */
export const recordedGroupNormFits = (channels: number, groups: number): boolean =>
  [8, 16, 32, 48, 64, 96, 128, 192, 256].includes(channels) && channels % groups === 0;

/** The norm of [N, ..., C], with SiLU where asked, recorded for gradients; null where no kernel fits. */
export function recordedGroupNorm(
  x_NPC: Tensor,
  { groups, weight, bias, eps, silu }: GroupNormParts,
): Tensor | null {
  const channels = x_NPC.shape.at(-1)!;
  if (!recordedGroupNormFits(channels, groups) || kernelFit(x_NPC, weight, bias) !== "recorded") return null;
  const { forward, backward } = groupNormKernels(channels, silu);
  const { device, shape } = x_NPC;
  const count = shape[0]!;
  const out = empty(shape, { dtype: "bfloat16", device });
  const statistics = empty([count, channels, 2], { device });
  const numbers = [{ int: x_NPC.numel / count / 8 }, { int: groups }];
  const size = { blocks: count, threads: groupNormThreads(channels, x_NPC.numel / count / channels) };
  forward(size, [x_NPC, weight, bias, out, statistics, ...numbers, { float: eps }]);
  const into = [{ gradOutput: 0 }, { gradInput: 0 }, { scratch: 0 }];
  const launches = [
    { kernel: backward, size, args: [x_NPC, weight, bias, statistics, ...into, ...numbers] },
    columnSums(count, [channels, channels], [1, 2]),
  ];
  return withGradients([out], [x_NPC, weight, bias], launches, [count * 2 * channels])[0]!;
}
