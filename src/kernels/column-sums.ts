/**
 * The last step of gradients of weights: blocks of a kernel leave a row of float32 sums each, and this adds the rows up, column by
 * column, in a fixed order. bfloat16 on a GPU.
 */
import { type GradientLaunch, kernel } from "#tensor";

const threads = 256;

/** A column belongs to the first gradient up to its width, then to the second. */
const columnSumsKernel = kernel(
  "column_sums",
  `
extern "C" __global__ void column_sums(const float* parts, bf16* first, bf16* second, int rows, int width, int stride) {
  __shared__ float sums[${threads / 32}];
  float sum = 0;
  for (int row = threadIdx.x; row < rows; row += blockDim.x) sum += parts[(size_t)row * stride + blockIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  float total = 0;
  for (int i = 0; i < ${threads / 32}; i++) total += sums[i];
  int column = blockIdx.x;
  if (column < width) first[column] = narrow(total);
  else second[column - width] = narrow(total);
}`,
);

/** Adds the rows of scratch 0 and writes the gradients of these inputs, one or two, of these widths. */
export function columnSums(
  rows: number,
  widths: readonly [number, number?],
  inputs: readonly [number, number?],
): GradientLaunch {
  const [width, more = 0] = widths;
  const into = [inputs[0], inputs[1] ?? inputs[0]].map((gradInput) => ({ gradInput }));
  const numbers = [rows, width, width + more].map((int) => ({ int }));
  return {
    kernel: columnSumsKernel,
    size: { blocks: width + more, threads },
    args: [{ scratch: 0 }, ...into, ...numbers],
  };
}
