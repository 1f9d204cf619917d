/**
 * What both kernels of attention over short sequences are made of: products on tensor cores, norms and rotation of rows, softmax.
 *
 * Products are mma.sync.m16n8k16 with bfloat16 sides and float32 sums, whose fragments the PTX manual lays out: of a 16 × 8 result
 * a lane holds rows lane / 4 and that plus 8, columns 2 · (lane mod 4) and the next.
 *
 * Shapes: L tokens of a sequence, H heads, E head width.
 */

/** Sizes that a kernel is compiled for. */
export interface AttentionSizes {
  readonly length: number;
  readonly heads: number;
  readonly width: number;
  readonly causal: boolean;
  readonly rotates: boolean;
  /** Whether the heads of queries and keys are normed first. */
  readonly norms: boolean;
}

/** Tiles of 16 queries, each a warp's; short sequences share a block. `pitch`: a row in shared memory, without bank conflicts. */
export function layout({ length, width }: AttentionSizes) {
  const tiles = Math.ceil(length / 16);
  const units = Math.max(1, Math.floor(4 / tiles));
  return { tiles, units, rows: 16 * tiles, perUnit: 32 * tiles, pitch: width + 8, wide: 16 * tiles + 8 };
}

/** Tensor-core products, and how rows come into shared memory; the host's imitation of CUDA brings its own product. */
export function pieces(sizes: AttentionSizes): string {
  const { length, width, causal, rotates, norms } = sizes;
  const { tiles, pitch } = layout(sizes);
  const norm = `
  float factor = rsqrtf(read_row(v, from) + eps);
  for (int c = 0; c < ${width}; c++) v[c] = rounded(wide(weight[c]) * rounded(v[c] * factor));`;
  const rotation = `
  for (int c = 0; c < ${width}; c += 2) {
    float even = v[c], odd = v[c + 1], cs = wide(cosines[c / 2]), sn = wide(sines[c / 2]);
    v[c] = rounded(rounded(even * cs) - rounded(odd * sn));
    v[c + 1] = rounded(rounded(odd * cs) + rounded(even * sn));
  }`;
  return `
#ifndef REVERIE_ON_HOST
__device__ inline void tensor_product(float* d, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
__device__ inline unsigned word(const bf16* at) { return *(const unsigned*)at; }
__device__ inline unsigned pack(float low, float high) { return (unsigned)narrow(low) | (unsigned)narrow(high) << 16; }
__device__ inline unsigned pair(const bf16* at, int pitch) { return (unsigned)at[0] | (unsigned)at[pitch] << 16; }
__device__ inline float read_row(float* v, const bf16* from) { // and what a norm multiplies it by, without its epsilon: the mean square
  float sum = 0;
  for (int e = 0; e < ${width / 8}; e++) {
    Eight a = ((const Eight*)from)[e];
    for (int k = 0; k < 8; k++) { v[e * 8 + k] = wide(a.x[k]); sum += v[e * 8 + k] * v[e * 8 + k]; }
  }
  return sum / ${width};
}
__device__ inline void norm_row(bf16* to, const bf16* from, const bf16* weight, const bf16* cosines, const bf16* sines, float eps) {
  float v[${width}];
  ${norms ? norm : "read_row(v, from);"}
  ${rotates ? rotation : ""}
  for (int c = 0; c < ${width}; c += 2) *(unsigned*)(to + c) = pack(v[c], v[c + 1]);
}
__device__ inline void copy_rows(bf16* to, const bf16* from, size_t stride, bool live, int thread, int threads) {
  for (int i = thread; i < ${tiles * 16 * (width / 8)}; i += threads) {
    int row = i / ${width / 8}, e = i % ${width / 8};
    Eight v = {};
    if (live && row < ${length}) v = ((const Eight*)(from + row * stride))[e];
    *((Eight*)(to + row * ${pitch}) + e) = v;
  }
}
// sixteen rows of one against all rows of the other
__device__ inline void against(float (*s)[4], const bf16* left, const bf16* right, int lane) {
  int g = lane / 4, t = lane % 4 * 2;
  for (int j = 0; j < ${2 * tiles}; j++) for (int i = 0; i < 4; i++) s[j][i] = 0;
  for (int c = 0; c < ${width}; c += 16) {
    const bf16* at = left + g * ${pitch} + c + t;
    unsigned a[4] = {word(at), word(at + 8 * ${pitch}), word(at + 8), word(at + 8 * ${pitch} + 8)};
    for (int j = 0; j < ${2 * tiles}; j++) {
      const bf16* other = right + (8 * j + g) * ${pitch} + c + t;
      unsigned b[2] = {word(other), word(other + 8)};
      tensor_product(s[j], a, b);
    }
  }
}
__device__ inline float over_quad(float sum) {
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  return sum + __shfl_xor_sync(0xffffffffu, sum, 2);
}
__device__ inline void soften(float (*s)[4], int tile, int lane) {
  for (int half = 0; half < 2; half++) {
    int row = 16 * tile + lane / 4 + 8 * half;
    float top = -1e30f, sum = 0;
    for (int j = 0; j < ${2 * tiles}; j++) for (int i = 0; i < 2; i++) {
      int key = 8 * j + lane % 4 * 2 + i;
      bool seen = key < ${length}${causal ? " && key <= row" : ""};
      float& score = s[j][2 * half + i];
      score = seen ? score * ${(1 / Math.sqrt(width)).toPrecision(9)}f : -1e30f;
      top = fmaxf(top, score);
    }
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    for (int j = 0; j < ${2 * tiles}; j++) for (int i = 0; i < 2; i++) {
      float& score = s[j][2 * half + i];
      score = __expf(score - top);
      sum += score;
    }
    sum = 1.0f / over_quad(sum);
    for (int j = 0; j < ${2 * tiles}; j++) for (int i = 0; i < 2; i++) s[j][2 * half + i] *= sum;
  }
}
// scores as the left side of a product: their place in the result of one is their place in the next
__device__ inline void as_left(unsigned (*a)[4], float (*s)[4]) {
  for (int c = 0; c < ${tiles}; c++) {
    a[c][0] = pack(s[2 * c][0], s[2 * c][1]);
    a[c][1] = pack(s[2 * c][2], s[2 * c][3]);
    a[c][2] = pack(s[2 * c + 1][0], s[2 * c + 1][1]);
    a[c][3] = pack(s[2 * c + 1][2], s[2 * c + 1][3]);
  }
}
// eight columns, from the n-th on, of weights · rows
__device__ inline void weigh(float* o, const unsigned (*a)[4], const bf16* rows, int n, int lane) {
  for (int c = 0; c < ${tiles}; c++) {
    const bf16* at = rows + (16 * c + lane % 4 * 2) * ${pitch} + n + lane / 4;
    unsigned b[2] = {pair(at, ${pitch}), pair(at + 8 * ${pitch}, ${pitch})};
    tensor_product(o, a[c], b);
  }
}`;
}
