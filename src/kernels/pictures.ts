/**
 * Norms of pictures whose channels come last in memory, each with the SiLU behind it, for bfloat16 on a GPU.
 *
 * libtorch's group norm turns such pictures round first, and the convolution behind it turns them back; these stay.
 * Sums are taken around each channel's first value and merged in a fixed order, so that flat areas lose no digits and
 * results repeat. Rounds to bfloat16 where the plain operators do. Each answers null where it does not apply.
 *
 * Shapes: N pictures (or videos), P positions, C channels, G groups.
 */
import { empty, fusable, type Kernel, kernel, type Tensor } from "#tensor";

/** Threads are columns (eight channels each) by lanes (positions in turn). */
interface Plan {
  readonly columns: number; // of one block
  readonly lanes: number;
  readonly columnBlocks: number;
  readonly positionsPerBlock: number;
  readonly chunks: number;
}

const threads = 256;
const positionsPerLane = 16;

export function planOf(positions: number, channels: number): Plan {
  const eights = channels / 8;
  let columns = Math.min(32, eights);
  while (eights % columns !== 0) columns--;
  const lanes = Math.floor(threads / columns);
  const positionsPerBlock = lanes * positionsPerLane;
  return {
    columns,
    lanes,
    columnBlocks: eights / columns,
    positionsPerBlock,
    chunks: Math.ceil(positions / positionsPerBlock),
  };
}

const place = `
  int column = threadIdx.x % columns, lane = threadIdx.x / columns;
  int column_block = blockIdx.x % column_blocks, chunk = blockIdx.x / column_blocks % chunks, picture = blockIdx.x / column_blocks / chunks;
  int eights = columns * column_blocks, at = column_block * columns + column;
  int from = chunk * per_block, to = from + per_block < positions ? from + per_block : positions;`;

export const channelSumsSource = `
extern "C" __global__ void channel_sums(const bf16* x, float* sums, int positions, int columns, int lanes, int column_blocks, int chunks, int per_block) {
  __shared__ float first[${threads * 8}];
  __shared__ float second[${threads * 8}];
  ${place}
  const Eight* in = (const Eight*)x + (size_t)picture * positions * eights + at;
  float s[8] = {0}, q[8] = {0};
  if (lane < lanes) {
    Eight pivot = in[0];
    for (int p = from + lane; p < to; p += lanes) {
      Eight v = in[(size_t)p * eights];
      for (int k = 0; k < 8; k++) { float d = wide(v.x[k]) - wide(pivot.x[k]); s[k] += d; q[k] += d * d; }
    }
    for (int k = 0; k < 8; k++) { first[(lane * columns + column) * 8 + k] = s[k]; second[(lane * columns + column) * 8 + k] = q[k]; }
  }
  __syncthreads();
  int channel = threadIdx.x;
  if (channel >= columns * 8) return;
  float a = 0, b = 0;
  for (int i = 0; i < lanes; i++) { a += first[i * columns * 8 + channel]; b += second[i * columns * 8 + channel]; }
  size_t slot = (((size_t)picture * chunks + chunk) * eights + column_block * columns) * 8 + channel;
  sums[slot * 2] = a;
  sums[slot * 2 + 1] = b;
}`;

/** One block per picture and group: the factor and offset of each of its channels. Threads share the chunks of a channel. */
export const groupFactorsSource = `
extern "C" __global__ void group_factors(const bf16* x, const float* sums, const bf16* weight, const bf16* bias, float* factors, int positions, int channels, int groups, int chunks, float eps) {
  __shared__ float firsts[${threads}];
  __shared__ float seconds[${threads}];
  __shared__ float means[${threads}];
  __shared__ float spreads[${threads}];
  int picture = blockIdx.x / groups, group = blockIdx.x % groups, size = channels / groups;
  int i = threadIdx.x % size, part = threadIdx.x / size, parts = ${threads} / size, channel = group * size + i;
  float a = 0, b = 0;
  for (int c = part; part < parts && c < chunks; c += parts) {
    size_t slot = ((size_t)picture * chunks + c) * channels + channel;
    a += sums[slot * 2];
    b += sums[slot * 2 + 1];
  }
  firsts[threadIdx.x] = a;
  seconds[threadIdx.x] = b;
  __syncthreads();
  if (threadIdx.x < size) {
    for (int p = 1; p < parts; p++) { a += firsts[p * size + i]; b += seconds[p * size + i]; }
    means[i] = wide(x[(size_t)picture * positions * channels + channel]) + a / positions;
    spreads[i] = b - a * a / positions;
  }
  __syncthreads();
  if (threadIdx.x >= size) return;
  float mean = 0, spread = 0;
  for (int j = 0; j < size; j++) mean += means[j];
  mean /= size;
  for (int j = 0; j < size; j++) { float d = means[j] - mean; spread += spreads[j] + positions * d * d; }
  spread /= (float)size * positions;
  float scaled = wide(weight[channel]) * rsqrtf((spread > 0 ? spread : 0) + eps);
  size_t slot = (size_t)picture * channels + channel;
  factors[slot * 2] = scaled;
  factors[slot * 2 + 1] = wide(bias[channel]) - mean * scaled;
}`;

/** The first `lead` positions are written twice more in front of all. */
export const applyFactorsSource = `
extern "C" __global__ void apply_factors(const bf16* x, const float* factors, bf16* out, int positions, int columns, int lanes, int column_blocks, int chunks, int per_block, int silu, int lead) {
  ${place}
  if (lane >= lanes) return;
  const Eight* in = (const Eight*)x + (size_t)picture * positions * eights + at;
  Eight* answer = (Eight*)out + (size_t)picture * (positions + 2 * lead) * eights + at;
  float a[8], b[8];
  for (int k = 0; k < 8; k++) {
    size_t slot = ((size_t)picture * eights + at) * 8 + k;
    a[k] = factors[slot * 2];
    b[k] = factors[slot * 2 + 1];
  }
  for (int p = from + lane; p < to; p += lanes) {
    Eight v = in[(size_t)p * eights], r;
    for (int k = 0; k < 8; k++) {
      float y = rounded(wide(v.x[k]) * a[k] + b[k]);
      r.x[k] = narrow(silu ? y / (1.0f + expf(-y)) : y);
    }
    answer[(size_t)(p + 2 * lead) * eights] = r;
    if (p >= lead) continue;
    answer[(size_t)p * eights] = r;
    answer[(size_t)(p + lead) * eights] = r;
  }
}`;

const channelSums = kernel("channel_sums", channelSumsSource);
const groupFactors = kernel("group_factors", groupFactorsSource);
const applyFactors = kernel("apply_factors", applyFactorsSource);

export interface GroupNormParts {
  readonly groups: number;
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly eps: number;
  readonly silu: boolean;
  /** Of videos, [N, T, ..., C]: puts the first frame in front twice more, for a causal convolution. */
  readonly leading?: boolean;
}

/** Group norm of [N, ...positions, C], which lies in memory as it says, and SiLU if wanted. */
export function fusedGroupNorm(x: Tensor, parts: GroupNormParts): Tensor | null {
  const { groups, weight, bias, eps, silu, leading = false } = parts;
  if (!fusable(x, weight, bias)) return null;
  const [pictures, channels] = [x.shape[0]!, x.shape.at(-1)!];
  const positions = x.numel / (pictures * channels);
  if (channels % 8 !== 0 || channels / groups > 256) return null;
  const { columns, lanes, columnBlocks, positionsPerBlock, chunks } = planOf(positions, channels);
  const place = { dtype: "float32", device: x.device } as const;
  const sums = empty([pictures, chunks, channels, 2], place);
  const factors = empty([pictures, channels, 2], place);
  const [, frames = 1, ...rest] = x.shape;
  const shape = leading ? [pictures, frames + 2, ...rest] : x.shape;
  const out = empty(shape, { dtype: "bfloat16", device: x.device });
  const lead = leading ? positions / frames : 0;
  const layout = [positions, columns, lanes, columnBlocks, chunks, positionsPerBlock].map((int) => ({ int }));
  const size = { blocks: pictures * chunks * columnBlocks, threads };
  channelSums(size, [x, sums, ...layout]);
  const numbers = [positions, channels, groups, chunks].map((int) => ({ int }));
  groupFactors({ blocks: pictures * groups, threads }, [
    x,
    sums,
    weight,
    bias,
    factors,
    ...numbers,
    { float: eps },
  ]);
  applyFactors(size, [x, factors, out, ...layout, { int: silu ? 1 : 0 }, { int: lead }]);
  return out;
}

/** One warp reads its row of x into v, eight numbers at a time, and knows its length. */
export function rowAndLength(width: number): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  return `  Eight v[${perLane}];
  float sum = 0;
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    v[i] = ((const Eight*)(x + (size_t)row * ${width}))[e];
    for (int k = 0; k < 8; k++) { float f = wide(v[i].x[k]); sum += f * f; }
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  float length = fmaxf(rounded(sqrtf(sum)), 1e-12f);
`;
}

export function channelNormSource(name: string, width: number): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  return `
extern "C" __global__ void ${name}(const bf16* x, const bf16* gamma, bf16* out, int rows, float root, int silu) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
${rowAndLength(width)}  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    Eight g = ((const Eight*)gamma)[e], r;
    for (int k = 0; k < 8; k++) {
      float y = rounded(rounded(rounded(wide(v[i].x[k]) / length) * root) * wide(g.x[k]));
      r.x[k] = narrow(silu ? y / (1.0f + expf(-y)) : y);
    }
    ((Eight*)(out + (size_t)row * ${width}))[e] = r;
  }
}`;
}

const channelNorms = new Map<number, Kernel>();

/** x / |x| · √C · gamma over the last axis of [..., C], and SiLU if wanted. */
export function fusedChannelNorm(x: Tensor, gamma_C: Tensor, silu: boolean): Tensor | null {
  const width = x.shape.at(-1)!;
  if (width % 8 !== 0 || width > 4096 || !fusable(x, gamma_C)) return null;
  const name = `channel_norm_${width}`;
  const run = channelNorms.get(width) ?? kernel(name, channelNormSource(name, width));
  channelNorms.set(width, run);
  const out = empty(x.shape, { dtype: "bfloat16", device: x.device });
  const rows = x.numel / width;
  const args = [x, gamma_C, out, { int: rows }, { float: Math.sqrt(width) }, { int: silu ? 1 : 0 }];
  run({ blocks: Math.ceil(rows / 8), threads: 256 }, args);
  return out;
}
