/**
 * The CUDA sources of attention over short sequences with gradients: see fused-attention-gradient.ts, which launches them.
 *
 * Queries, keys and values of a sequence's head (a unit) lie in shared memory, a row each; a warp has 16 queries at a time.
 *
 * Shapes: L tokens of a sequence, H heads, E head width, D = H · E.
 */
import { type AttentionSizes, layout, pieces } from "./attention-pieces.ts";

export { type AttentionSizes, layout };

const sharedBytes = 48 * 1024;

/** Shared memory of the gradients' kernel, a unit: four parts and two squares; afterwards, in the same place, float32 rows of two. */
function gradientBytes(sizes: AttentionSizes): number {
  const { rows, pitch, wide } = layout(sizes);
  return Math.max(2 * (4 * rows * pitch + 2 * rows * wide), 4 * 2 * rows * (sizes.width + 1));
}

/** Whether kernels can be made for such sequences. */
export function shortAttentionFits(sizes: AttentionSizes): boolean {
  const { length, width } = sizes;
  return length <= 64 && width % 16 === 0 && gradientBytes(sizes) * layout(sizes).units <= sharedBytes;
}

/** Which sequence and head a thread works for. */
function placing(sizes: AttentionSizes): string {
  const { length, heads, width } = sizes;
  const { units, perUnit, rows } = layout(sizes);
  const D = heads * width;
  return `
  int own = threadIdx.x / ${perUnit}, thread = threadIdx.x % ${perUnit}, unit = blockIdx.x * ${units} + own;
  int tile = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4 * 2;
  int part = thread / ${rows}, token = thread % ${rows}; // every thread has one query or one key
  bool live = unit < units;
  int head = live ? unit % ${heads} : 0, sequence = live ? unit / ${heads} : 0;
  size_t first = (size_t)(sequence / inner) * ${length} * inner + sequence % inner;
  size_t row_at = (first + (size_t)token * inner) * ${3 * D} + part * ${D} + head * ${width};
  size_t stride = (size_t)inner * ${3 * D};
  const bf16* cs = cosines + token * ${width / 2};
  const bf16* sn = sines + token * ${width / 2};`;
}

/** Queries and keys normed and turned, values as they are. */
const loading = ({ length, heads, width }: AttentionSizes, pitch: number, perUnit: number): string => `
  if (live && token < ${length}) norm_row((part ? k : q) + token * ${pitch}, qkv + row_at, part ? k_weight : q_weight, cs, sn, eps);
  else for (int c = 0; c < ${width}; c++) (part ? k : q)[token * ${pitch} + c] = 0;
  copy_rows(v, qkv + first * ${3 * heads * width} + ${2 * heads * width} + head * ${width}, stride, live, thread, ${perUnit});`;

export function shortAttentionSource(name: string, sizes: AttentionSizes): string {
  const { length, heads, width } = sizes;
  const { tiles, units, rows, perUnit, pitch } = layout(sizes);
  return `${pieces(sizes)}
extern "C" __global__ void ${name}(const bf16* qkv, const bf16* q_weight, const bf16* k_weight, const bf16* cosines, const bf16* sines, bf16* out, int units, int inner, float eps) {
  __shared__ Eight room[${units}][3][${(rows * pitch) / 8}];
  ${placing(sizes)}
  bf16 *q = (bf16*)room[own][0], *k = (bf16*)room[own][1], *v = (bf16*)room[own][2];
  ${loading(sizes, pitch, perUnit)}
  __syncthreads();
  float s[${2 * tiles}][4];
  unsigned a[${tiles}][4];
  against(s, q + 16 * tile * ${pitch}, k, lane);
  soften(s, tile, lane);
  as_left(a, s);
  for (int n = 0; n < ${width}; n += 8) {
    float o[4] = {0, 0, 0, 0};
    weigh(o, a, v, n, lane);
    for (int half = 0; half < 2; half++) {
      int l = 16 * tile + g + 8 * half;
      if (live && l < ${length}) *(unsigned*)(out + (first + (size_t)l * inner) * ${heads * width} + head * ${width} + n + t) = pack(o[2 * half], o[2 * half + 1]);
    }
  }
}`;
}

export function shortAttentionGradientSource(name: string, sizes: AttentionSizes): string {
  const { length, heads, width, rotates, norms } = sizes;
  const { tiles, units, rows, perUnit, pitch, wide } = layout(sizes);
  const D = heads * width;
  const scale = (1 / Math.sqrt(width)).toPrecision(9);
  const back = `
    for (int c = 0; c < ${width}; c += 2) {
      float even = mine[c], odd = mine[c + 1], co = wide(cs[c / 2]), si = wide(sn[c / 2]);
      mine[c] = even * co + odd * si;
      mine[c + 1] = odd * co - even * si;
    }`;
  const ofPlain = `
    for (int e = 0; e < ${width / 8}; e++) {
      Eight r;
      for (int i = 0; i < 8; i++) r.x[i] = narrow(mine[8 * e + i]);
      ((Eight*)(of_qkv + row_at))[e] = r;
    }`;
  const ofNormed = `
    const bf16* weight = part ? k_weight : q_weight;
    float x[${width}], turn = 0;
    float factor = rsqrtf(read_row(x, qkv + row_at) + eps);
    for (int c = 0; c < ${width}; c++) { x[c] *= factor; turn += wide(weight[c]) * mine[c] * x[c]; }
    turn /= ${width};
    for (int e = 0; e < ${width / 8}; e++) {
      Eight r;
      for (int i = 0; i < 8; i++) { int c = 8 * e + i; r.x[i] = narrow(factor * (wide(weight[c]) * mine[c] - x[c] * turn)); mine[c] *= x[c]; }
      ((Eight*)(of_qkv + row_at))[e] = r;
    }`;
  const ofWeights = ` else for (int c = 0; c < ${width}; c++) mine[c] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < ${2 * width}; i += blockDim.x) {
    float sum = 0;
    for (int u = 0; u < ${units}; u++) for (int l = 0; l < ${length}; l++) sum += ((float*)room[u])[(i / ${width} * ${rows} + l) * ${width + 1} + i % ${width}];
    of_weights[(size_t)blockIdx.x * ${2 * width} + i] = sum;
  }`;
  return `${pieces(sizes)}
extern "C" __global__ void ${name}(const bf16* qkv, const bf16* q_weight, const bf16* k_weight, const bf16* cosines, const bf16* sines, const bf16* grad, bf16* of_qkv, float* of_weights, int units, int inner, float eps) {
  __shared__ Eight room[${units}][${gradientBytes(sizes) / 16}];
  ${placing(sizes)}
  bf16 *q = (bf16*)room[own], *k = q + ${rows * pitch}, *v = k + ${rows * pitch}, *d = v + ${rows * pitch};
  bf16 *weights = d + ${rows * pitch}, *scores = weights + ${rows * wide};
  ${loading(sizes, pitch, perUnit)}
  copy_rows(d, grad + first * ${D} + head * ${width}, (size_t)inner * ${D}, live, thread, ${perUnit});
  __syncthreads();
  float s[${2 * tiles}][4], of_s[${2 * tiles}][4], of_q[${width / 8}][4] = {};
  against(s, q + 16 * tile * ${pitch}, k, lane);
  soften(s, tile, lane);
  against(of_s, d + 16 * tile * ${pitch}, v, lane);
  for (int half = 0; half < 2; half++) {
    float sum = 0;
    for (int j = 0; j < ${2 * tiles}; j++) for (int i = 2 * half; i < 2 * half + 2; i++) sum += s[j][i] * of_s[j][i];
    sum = over_quad(sum);
    for (int j = 0; j < ${2 * tiles}; j++) {
      for (int i = 2 * half; i < 2 * half + 2; i++) of_s[j][i] = s[j][i] * (of_s[j][i] - sum) * ${scale}f;
      int at = (16 * tile + g + 8 * half) * ${wide} + 8 * j + t;
      *(unsigned*)(weights + at) = pack(s[j][2 * half], s[j][2 * half + 1]);
      *(unsigned*)(scores + at) = pack(of_s[j][2 * half], of_s[j][2 * half + 1]);
    }
  }
  unsigned a[${tiles}][4];
  as_left(a, of_s);
  for (int n = 0; n < ${width / 8}; n++) weigh(of_q[n], a, k, 8 * n, lane);
  __syncthreads();
  // this warp's tile of keys and values: the squares turned round
  float of_k[${width / 8}][4] = {}, of_v[${width / 8}][4] = {};
  unsigned b[${tiles}][4];
  for (int c = 0; c < ${tiles}; c++) for (int i = 0; i < 4; i++) {
    int at = (16 * c + t + 8 * (i / 2)) * ${wide} + 16 * tile + g + 8 * (i % 2);
    a[c][i] = pair(scores + at, ${wide});
    b[c][i] = pair(weights + at, ${wide});
  }
  for (int n = 0; n < ${width / 8}; n++) { weigh(of_k[n], a, q, 8 * n, lane); weigh(of_v[n], b, d, 8 * n, lane); }
  __syncthreads();
  float* wide_rows = (float*)room[own]; // nobody needs the rest any more
  for (int n = 0; n < ${width / 8}; n++) for (int i = 0; i < 4; i++) {
    int l = 16 * tile + g + 8 * (i / 2), c = 8 * n + t + i % 2;
    wide_rows[l * ${width + 1} + c] = of_q[n][i];
    wide_rows[(${rows} + l) * ${width + 1} + c] = of_k[n][i];
  }
  for (int n = 0; n < ${width / 8}; n++) for (int half = 0; half < 2; half++) {
    int l = 16 * tile + g + 8 * half;
    if (live && l < ${length}) *(unsigned*)(of_qkv + (first + (size_t)l * inner) * ${3 * D} + ${2 * D} + head * ${width} + 8 * n + t) = pack(of_v[n][2 * half], of_v[n][2 * half + 1]);
  }
  __syncthreads();
  float* mine = wide_rows + thread * ${width + 1};
  if (live && token < ${length}) {
    ${rotates ? back : ""}
    ${norms ? ofNormed : ofPlain}
  }${norms ? ofWeights : ""}
}`;
}
