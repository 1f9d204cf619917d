/**
 * The element-wise chains of a Llama layer as one kernel each, for bfloat16 on a GPU.
 *
 * Each rounds to bfloat16 where the plain operators do, so that sampling with the kernels and judging without them
 * see the same numbers, up to the order of one sum. Each answers null where it does not apply, and the caller goes the plain way.
 * Where gradients are recorded, the gate and the rotation have kernels for theirs. The norm borrows libtorch's: the
 * fused norm there records itself, and our numbers take the place of its result, which its backward pass does not read.
 *
 * Shapes: rows R, width D (a multiple of 8), head width E (a multiple of 16).
 */
import { empty, fast, fusable, kernel, kernelFit, type Tensor, withGradient } from "#tensor";

/** The sum over a block of each thread's number, known to every thread. Every thread must take part. */
const blockSum = `
__device__ inline float block_sum(float sum) {
  __shared__ float parts[32];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
  for (int i = 0; i < blockDim.x / 32; i++) total += parts[i];
  return total;
}
__device__ inline Eight scaled(Eight v, Eight w, float factor) {
  Eight r;
  for (int k = 0; k < 8; k++) r.x[k] = narrow(wide(w.x[k]) * rounded(wide(v.x[k]) * factor));
  return r;
}`;

const rmsNormKernel = kernel(
  "rms_norm",
  `${blockSum}
extern "C" __global__ void rms_norm(const bf16* x, const bf16* weight, bf16* out, int width, float eps) {
  const Eight* row = (const Eight*)(x + (size_t)blockIdx.x * width);
  Eight* answer = (Eight*)(out + (size_t)blockIdx.x * width);
  const Eight* scale = (const Eight*)weight;
  int n = width / 8;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    Eight v = row[i];
    for (int k = 0; k < 8; k++) { float f = wide(v.x[k]); sum += f * f; }
  }
  float factor = rsqrtf(block_sum(sum) / width + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) answer[i] = scaled(row[i], scale[i], factor);
}`,
);

const recordedRmsNorm = fast("aten::_fused_rms_norm");

/** weight · bf16(x / rms(x)), one pass over x. */
export function fusedRmsNorm(x_RD: Tensor, weight_D: Tensor, eps: number): Tensor | null {
  const fit = kernelFit(x_RD, weight_D);
  if (fit === "no") return null;
  const shape = x_RD.shape;
  const width = shape.at(-1) ?? 0;
  if (width % 8 !== 0) return null;
  const out =
    fit === "recorded"
      ? recordedRmsNorm(x_RD, [width], weight_D, eps)[0]
      : empty(shape, { dtype: "bfloat16", device: x_RD.device });
  rmsNormKernel({ blocks: rowsOf(shape), threads: 256 }, [
    x_RD,
    weight_D,
    out,
    { int: width },
    { float: eps },
  ]);
  return out;
}

const rowsOf = (shape: readonly number[]): number =>
  shape.slice(0, -1).reduce((product, size) => product * size, 1);

const addRmsNormKernel = kernel(
  "add_rms_norm",
  `${blockSum}
extern "C" __global__ void add_rms_norm(const bf16* x, bf16* branch, const bf16* weight, bf16* out, int width, float eps) {
  const Eight* row = (const Eight*)(x + (size_t)blockIdx.x * width);
  Eight* other = (Eight*)(branch + (size_t)blockIdx.x * width);
  Eight* answer = (Eight*)(out + (size_t)blockIdx.x * width);
  const Eight* scale = (const Eight*)weight;
  int n = width / 8;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    Eight a = row[i], b = other[i];
    for (int k = 0; k < 8; k++) {
      b.x[k] = narrow(wide(a.x[k]) + wide(b.x[k]));
      float f = wide(b.x[k]);
      sum += f * f;
    }
    other[i] = b; // each thread reads back only what it wrote itself
  }
  float factor = rsqrtf(block_sum(sum) / width + eps);
  for (int i = threadIdx.x; i < n; i += blockDim.x) answer[i] = scaled(other[i], scale[i], factor);
}`,
);

export interface AddedAndNormed {
  readonly sum: Tensor;
  readonly normed: Tensor;
}

/** A residual connection and the norm behind it in one pass. The sum is written over the branch. */
export function fusedAddRmsNorm(
  x_RD: Tensor,
  branch_RD: Tensor,
  weight_D: Tensor,
  eps: number,
): AddedAndNormed | null {
  if (!fusable(x_RD, branch_RD, weight_D)) return null;
  const shape = x_RD.shape;
  const width = shape.at(-1) ?? 0;
  if (width % 8 !== 0) return null;
  const normed = empty(shape, { dtype: "bfloat16", device: x_RD.device });
  addRmsNormKernel({ blocks: rowsOf(shape), threads: 256 }, [
    x_RD,
    branch_RD,
    weight_D,
    normed,
    { int: width },
    { float: eps },
  ]);
  return { sum: branch_RD, normed };
}

const gateKernel = kernel(
  "gated_silu",
  `
extern "C" __global__ void gated_silu(const bf16* gate, const bf16* up, bf16* out, int eights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  Eight g = ((const Eight*)gate)[i], u = ((const Eight*)up)[i], r;
  for (int k = 0; k < 8; k++) {
    float f = wide(g.x[k]);
    r.x[k] = narrow(rounded(f / (1.0f + expf(-f))) * wide(u.x[k]));
  }
  ((Eight*)out)[i] = r;
}`,
);

const gateGradientKernel = kernel(
  "gated_silu_gradient",
  `
extern "C" __global__ void gated_silu_gradient(const bf16* gate, const bf16* up, const bf16* grad, bf16* of_gate, bf16* of_up, int eights) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  Eight g = ((const Eight*)gate)[i], u = ((const Eight*)up)[i], d = ((const Eight*)grad)[i], a, b;
  for (int k = 0; k < 8; k++) {
    float f = wide(g.x[k]), s = 1.0f / (1.0f + expf(-f)), down = wide(d.x[k]);
    a.x[k] = narrow(rounded(down * wide(u.x[k])) * s * (1.0f + f * (1.0f - s)));
    b.x[k] = narrow(down * rounded(f / (1.0f + expf(-f))));
  }
  ((Eight*)of_gate)[i] = a;
  ((Eight*)of_up)[i] = b;
}`,
);

/** silu(gate) · up. Written over the gate, unless the gate is needed for gradients. */
export function fusedGatedSilu(gate: Tensor, up: Tensor): Tensor | null {
  const fit = kernelFit(gate, up);
  if (fit === "no") return null;
  const shape = gate.shape;
  const eights = shape.reduce((product, size) => product * size, 1) / 8;
  if (!Number.isInteger(eights)) return null;
  const size = { blocks: Math.ceil(eights / 256), threads: 256 };
  const out = fit === "free" ? gate : empty(shape, { dtype: "bfloat16", device: gate.device });
  gateKernel(size, [gate, up, out, { int: eights }]);
  if (fit === "free") return out;
  const args = [gate, up, { gradOutput: 0 }, { gradInput: 0 }, { gradInput: 1 }, { int: eights }] as const;
  return withGradient(out, [gate, up], gateGradientKernel, size, args);
}

const rotateKernel = kernel(
  "rotate_halves",
  `
extern "C" __global__ void rotate_halves(const bf16* x, bf16* out, const bf16* cosines, const bf16* sines, int heads, int width, int length, int shared_rows, int total, int back) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; // one thread turns eight pairs
  if (i >= total) return;
  int per_head = width / 16, lane = i % per_head, head = i / per_head;
  int token = head / heads;                      // batch · length + position
  int row = shared_rows ? token % length : token;
  const Eight* first = (const Eight*)(x + (size_t)head * width) + lane;
  Eight* answer = (Eight*)(out + (size_t)head * width) + lane;
  const Eight* c = (const Eight*)(cosines + (size_t)row * width) + lane;
  const Eight* s = (const Eight*)(sines + (size_t)row * width) + lane;
  Eight a = *first, b = first[per_head], c1 = *c, s1 = *s, c2 = c[per_head], s2 = s[per_head], p, q;
  for (int k = 0; k < 8; k++) {
    float u = wide(a.x[k]), v = wide(b.x[k]);
    // the way back is the transposed matrix: the other half's sine, and the other sign
    float up = back ? -wide(s2.x[k]) : wide(s1.x[k]), down = back ? -wide(s1.x[k]) : wide(s2.x[k]);
    p.x[k] = narrow(rounded(u * wide(c1.x[k])) + rounded(-v * up));
    q.x[k] = narrow(rounded(v * wide(c2.x[k])) + rounded(u * down));
  }
  answer[0] = p;
  answer[per_head] = q;
}`,
);

/**
 * Turns the heads of [B, L, N·E] in place, as `rotateHalves` does; the tables are [B or 1, 1, L, E].
 * Where gradients are recorded, whatever made `x` must not need its result again: a linear layer does not.
 */
export function fusedRotateHalves(x_BLD: Tensor, heads: number, cos: Tensor, sin: Tensor): Tensor | null {
  const fit = kernelFit(x_BLD, cos, sin);
  if (fit === "no") return null;
  const [batch = 0, length = 0, width = 0] = x_BLD.shape;
  const [rows = 0, , positions = 0, head = 0] = cos.shape;
  if (head * heads !== width || head % 16 !== 0 || positions !== length) return null;
  if (rows !== 1 && rows !== batch) return null;
  const total = (batch * length * width) / 16;
  const size = { blocks: Math.ceil(total / 256), threads: 256 };
  const numbers = [heads, head, length, rows === 1 ? 1 : 0, total].map((int) => ({ int }));
  const turned = fit === "free" ? x_BLD : x_BLD.detach();
  rotateKernel(size, [turned, turned, cos, sin, ...numbers, { int: 0 }]);
  if (fit === "free") return turned;
  const args = [{ gradOutput: 0 }, { gradInput: 0 }, cos, sin, ...numbers, { int: 1 }] as const;
  return withGradient(turned, [x_BLD], rotateKernel, size, args);
}
