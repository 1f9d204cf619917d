/**
 * What stands between the projections and the attention of video transformers, as one kernel each, for bfloat16 on a GPU.
 *
 * `fusedHeadNorm`: root-mean-square norm of every query and key head, and the rotation of pairs (2i, 2i + 1), in place.
 * `fusedRmsNormRotary`: the norm over all heads at once, as Wan has it, and the rotation.
 * `fusedFrameAttention`: attention over a dozen frames of the same patch, in the layout that linear layers leave: library
 * kernels are made for long sequences, and would need the frames moved next to each other first.
 * Each answers null where it does not apply, and the caller goes the plain way.
 *
 * Shapes: R tokens, H heads, E head width (a multiple of 8), B videos, T frames, M remembered frames, S patches.
 */
import { empty, fusable, type Kernel, kernel, type Tensor } from "#tensor";

const warpsPerBlock = 4;

/** cos and sin per pair of channels: bfloat16 [T, E/2] for the head norm, float32 [L, E/2] for the norm over all heads. */
export interface PairTable {
  readonly cos: Tensor;
  readonly sin: Tensor;
}

/** Threads of a block at most: each leaves four sums of squares where the other threads of its head read them. */
const mostThreads = 1024;

/**
 * A thread holds eight numbers of a head, of the queries and of the keys of two tokens: no lane of a warp is idle, whatever
 * the head's width, and four loads are in flight. A block takes `pairs` pairs of tokens, heads · eights threads for each.
 */
export const headNormSource = `
struct alignas(8) Four { bf16 x[4]; };
extern "C" __global__ void head_norm(bf16* qkv, const bf16* q_weight, const bf16* k_weight, const bf16* cosines, const bf16* sines, int tokens, int heads, int eights, int pairs, int patches, int frames, int first, int rotate, float eps) {
  __shared__ float sums[4][${mostThreads}];
  int row = heads * eights, place = threadIdx.x % row, e = place % eights, head = threadIdx.x - e;
  int from = (blockIdx.x * pairs + threadIdx.x / row) * 2;
  Eight v[4];
  #pragma unroll
  for (int u = 0; u < 4; u++) if (from + u / 2 < tokens) v[u] = ((const Eight*)qkv)[((size_t)(from + u / 2) * 3 + u % 2) * row + place];
  #pragma unroll
  for (int u = 0; u < 4; u++) {
    float sum = 0;
    for (int k = 0; k < 8; k++) { float f = wide(v[u].x[k]); sum += f * f; }
    sums[u][threadIdx.x] = sum;
  }
  Eight weights[2] = { ((const Eight*)q_weight)[e], ((const Eight*)k_weight)[e] };
  __syncthreads();
  #pragma unroll
  for (int u = 0; u < 4; u++) {
    int token = from + u / 2;
    if (token >= tokens) return;
    float sum = 0;
    for (int k = 0; k < eights; k++) sum += sums[u][head + k];
    float factor = rsqrtf(sum / (eights * 8) + eps);
    Eight r;
    for (int k = 0; k < 8; k++) r.x[k] = narrow(wide(weights[u % 2].x[k]) * rounded(wide(v[u].x[k]) * factor));
    if (rotate) {
      size_t pair = ((size_t)(first + token / patches % frames) * eights + e) * 4;
      Four c = *(const Four*)(cosines + pair), s = *(const Four*)(sines + pair);
      for (int p = 0; p < 4; p++) {
        float even = wide(r.x[2 * p]), odd = wide(r.x[2 * p + 1]), cs = wide(c.x[p]), sn = wide(s.x[p]);
        r.x[2 * p] = narrow(rounded(even * cs) - rounded(odd * sn));
        r.x[2 * p + 1] = narrow(rounded(odd * cs) + rounded(even * sn));
      }
    }
    ((Eight*)qkv)[((size_t)token * 3 + u % 2) * row + place] = r;
  }
}`;
const headNorm = kernel("head_norm", headNormSource);

export interface HeadNorm {
  readonly q: Tensor; // [E]
  readonly k: Tensor;
  readonly eps: number;
  /** Rotation by frame: the rows of the table are frames, the first token's frame is `first`. */
  readonly rotary?: PairTable & { readonly first: number };
}

/** Norms and rotates the queries and keys of [B, T, S, 3, H, E] in place. */
export function fusedHeadNorm(qkv_BTS3HE: Tensor, { q, k, eps, rotary }: HeadNorm): Tensor | null {
  const tables = rotary ? [rotary.cos, rotary.sin] : [];
  if (!fusable(qkv_BTS3HE, q, k, ...tables)) return null;
  const [videos = 0, frames = 0, patches = 0, , heads = 0, width = 0] = qkv_BTS3HE.shape;
  const perToken = (heads * width) / 8;
  if (width % 8 !== 0 || perToken > mostThreads) return null;
  const pairs = Math.max(1, Math.floor(192 / perToken)); // about six warps, also where heads are few
  const tokens = videos * frames * patches;
  const numbers = [tokens, heads, width / 8, pairs, patches, frames, rotary?.first ?? 0, rotary ? 1 : 0];
  headNorm({ blocks: Math.ceil(tokens / (2 * pairs)), threads: pairs * perToken }, [
    qkv_BTS3HE,
    q,
    k,
    rotary?.cos ?? q,
    rotary?.sin ?? q,
    ...numbers.map((int) => ({ int })),
    { float: eps },
  ]);
  return qkv_BTS3HE;
}

export function rmsNormRotarySource(name: string, width: number): string {
  const eights = width / 8;
  const perLane = Math.ceil(eights / 32);
  return `
extern "C" __global__ void ${name}(const bf16* x, const bf16* weight, const float* cosines, const float* sines, bf16* out, int rows, int length, int head, float eps) {
  int row = blockIdx.x * ${warpsPerBlock} + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const Eight* in = (const Eight*)(x + (size_t)row * ${width});
  Eight v[${perLane}];
  float sum = 0;
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    v[i] = in[e];
    for (int k = 0; k < 8; k++) { float f = wide(v[i].x[k]); sum += f * f; }
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  float factor = rsqrtf(sum / ${width} + eps);
  #pragma unroll
  for (int i = 0; i < ${perLane}; i++) {
    int e = lane + 32 * i;
    if (e >= ${eights}) continue;
    Eight w = ((const Eight*)weight)[e], r;
    for (int k = 0; k < 8; k++) r.x[k] = narrow(wide(w.x[k]) * rounded(wide(v[i].x[k]) * factor));
    size_t pair = (size_t)(row % length) * (head / 2) + (e * 8 % head) / 2;
    for (int p = 0; p < 4; p++) {
      float even = wide(r.x[2 * p]), odd = wide(r.x[2 * p + 1]), c = cosines[pair + p], s = sines[pair + p];
      r.x[2 * p] = narrow(even * c - odd * s);
      r.x[2 * p + 1] = narrow(even * s + odd * c);
    }
    ((Eight*)(out + (size_t)row * ${width}))[e] = r;
  }
}`;
}

const rmsNormRotaryKernels = new Map<number, Kernel>();

/** The norm of [B, L, H·E] over its last axis, then the rotation of every head by float32 tables [L, E/2]. */
export function fusedRmsNormRotary(
  x_BLD: Tensor,
  weight_D: Tensor,
  { cos, sin }: PairTable,
  eps: number,
): Tensor | null {
  if (!fusable(x_BLD, weight_D) || cos.dtype !== "float32" || sin.dtype !== "float32") return null;
  const [batch = 0, length = 0, width = 0] = x_BLD.shape;
  const head = 2 * cos.shape[1]!;
  if (head % 8 !== 0 || width % head !== 0 || width > 4096 || cos.shape[0] !== length) return null;
  const name = `rms_norm_rotary_${width}`;
  const run = rmsNormRotaryKernels.get(width) ?? kernel(name, rmsNormRotarySource(name, width));
  rmsNormRotaryKernels.set(width, run);
  const out = empty(x_BLD.shape, { dtype: "bfloat16", device: x_BLD.device });
  const numbers = [batch * length, length, head].map((int) => ({ int }));
  const size = { blocks: Math.ceil((batch * length) / warpsPerBlock), threads: 32 * warpsPerBlock };
  run(size, [x_BLD, weight_D, cos, sin, out, ...numbers, { float: eps }]);
  return out;
}

/** One warp per video, patch and head: all of its queries, keys and values fit in shared memory. */
export function frameAttentionSource(
  name: string,
  queries: number,
  remembered: number,
  width: number,
  causal: boolean,
): string {
  const keys = remembered + queries;
  const [eights, padded, scores] = [width / 8, width + 1, Math.ceil(keys / 4) * 4];
  return `
__device__ inline void fetch(float* to, const bf16* from, size_t stride, int rows, int lane) {
  for (int i = lane; i < rows * ${eights}; i += 32) {
    int row = i / ${eights}, e = i % ${eights};
    Eight v = *((const Eight*)(from + row * stride) + e);
    for (int k = 0; k < 8; k++) to[row * ${padded} + e * 8 + k] = wide(v.x[k]);
  }
}
extern "C" __global__ void ${name}(const bf16* q, const bf16* k, const bf16* v, const bf16* past_k, const bf16* past_v, bf16* out, int total, int heads, int patches, int q_stride, int k_stride, int v_stride, int past_stride, float scale) {
  __shared__ float q_rows[${warpsPerBlock}][${queries * padded}];
  __shared__ float k_rows[${warpsPerBlock}][${keys * padded}];
  __shared__ float v_rows[${warpsPerBlock}][${keys * padded}];
  __shared__ float weights[${warpsPerBlock}][${queries * scores}];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, unit = blockIdx.x * ${warpsPerBlock} + warp;
  if (unit >= total) return;
  int head = unit % heads, patch = unit / heads % patches, video = unit / heads / patches;
  size_t token = (size_t)video * ${queries} * patches + patch, column = (size_t)head * ${width};
  fetch(q_rows[warp], q + token * q_stride + column, (size_t)patches * q_stride, ${queries}, lane);
  fetch(k_rows[warp] + ${remembered * padded}, k + token * k_stride + column, (size_t)patches * k_stride, ${queries}, lane);
  fetch(v_rows[warp] + ${remembered * padded}, v + token * v_stride + column, (size_t)patches * v_stride, ${queries}, lane);
  if (${remembered} > 0) {
    size_t before = ((size_t)video * ${remembered} * patches + patch) * past_stride + column;
    fetch(k_rows[warp], past_k + before, (size_t)patches * past_stride, ${remembered}, lane);
    fetch(v_rows[warp], past_v + before, (size_t)patches * past_stride, ${remembered}, lane);
  }
  __syncwarp();
  for (int i = lane; i < ${queries * keys}; i += 32) {
    int t = i / ${keys}, j = i % ${keys};
    float dot = 0;
    for (int c = 0; c < ${width}; c++) dot += q_rows[warp][t * ${padded} + c] * k_rows[warp][j * ${padded} + c];
    weights[warp][t * ${scores} + j] = ${causal ? `j > t + ${remembered} ? -INFINITY : ` : ""}dot * scale;
  }
  __syncwarp();
  if (lane < ${queries}) {
    float* row = weights[warp] + lane * ${scores};
    float top = row[0], sum = 0;
    for (int j = 1; j < ${keys}; j++) top = fmaxf(top, row[j]);
    for (int j = 0; j < ${keys}; j++) { row[j] = expf(row[j] - top); sum += row[j]; }
    for (int j = 0; j < ${keys}; j++) row[j] /= sum;
  }
  __syncwarp();
  for (int c = lane; c < ${width}; c += 32) {
    float value[${keys}];
    for (int j = 0; j < ${keys}; j++) value[j] = v_rows[warp][j * ${padded} + c];
    for (int t = 0; t < ${queries}; t++) {
      float mixed = 0;
      for (int j = 0; j < ${keys}; j++) mixed += weights[warp][t * ${scores} + j] * value[j];
      out[(token + (size_t)t * patches) * heads * ${width} + column + c] = narrow(mixed);
    }
  }
}`.replaceAll("INFINITY", "__int_as_float(0x7f800000)");
}

const frameAttentionKernels = new Map<string, Kernel>();

/** [B, T, S, H, E] each; heads and channels contiguous, tokens `stride(token)` apart. */
export interface FrameHeads {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  /** Numbers from one token to the next, in each of the three. */
  readonly strides: readonly [number, number, number];
}

/** Keys and values of frames before, [B, M, S, 2, H, E]. */
export interface FrameAttentionOptions {
  readonly past_BMS2HE?: Tensor | undefined;
  readonly causal: boolean;
}

const sharedBytes = 48 * 1024;

/** Whether a warp's frames fit in shared memory. */
export function frameAttentionFits(queries: number, remembered: number, width: number): boolean {
  const keys = remembered + queries;
  const scores = queries * Math.ceil(keys / 4) * 4;
  const bytes = 4 * warpsPerBlock * ((queries + 2 * keys) * (width + 1) + scores);
  return width % 8 === 0 && queries <= 32 && bytes <= sharedBytes;
}

/** Attention over the frames of each patch, to [B, T, S, H·E]. The caller vouches for the strides. */
export function fusedFrameAttention(
  heads: FrameHeads,
  { past_BMS2HE: past, causal }: FrameAttentionOptions,
): Tensor | null {
  const { q, k, v, strides } = heads;
  const [videos = 0, queries = 0, patches = 0, count = 0, width = 0] = q.shape;
  const remembered = past?.shape[1] ?? 0;
  if (q.device === "cpu" || q.dtype !== "bfloat16" || !frameAttentionFits(queries, remembered, width))
    return null;
  const out = empty([videos, queries, patches, count * width], { dtype: "bfloat16", device: q.device });
  const name = `frame_attention_${queries}_${remembered}_${width}${causal ? "_causal" : ""}`;
  const run =
    frameAttentionKernels.get(name) ??
    kernel(name, frameAttentionSource(name, queries, remembered, width, causal));
  frameAttentionKernels.set(name, run);
  const total = videos * patches * count;
  const numbers = [total, count, patches, ...strides, 2 * count * width].map((int) => ({ int }));
  const [pastK, pastV] = past ? [past.select(3, 0), past.select(3, 1)] : [k, v];
  run({ blocks: Math.ceil(total / warpsPerBlock), threads: 32 * warpsPerBlock }, [
    q,
    k,
    v,
    pastK,
    pastV,
    out,
    ...numbers,
    { float: 1 / Math.sqrt(width) },
  ]);
  return out;
}
