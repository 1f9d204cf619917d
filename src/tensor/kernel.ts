/**
 * Fused GPU kernels from CUDA source, compiled when first used.
 *
 * For chains of element-wise operators that are bound by memory: one pass instead of five. Every kernel has a twin in
 * plain operators that defines it, runs everywhere else, and is what tests compare it with. Kernels have no gradient:
 * callers use them only where none is recorded.
 */
import { addon, buffer } from "./addon.ts";
import { deviceCode, dtypeCode } from "./dtype.ts";
import { Tensor } from "./tensor.ts";

export type KernelArgument = Tensor | { readonly int: number } | { readonly float: number };

export type Kernel = (
  launch: { readonly blocks: number; readonly threads: number },
  args: readonly KernelArgument[],
) => void;

/** Shared by every kernel: bfloat16 as bits, rounded to nearest even, so that no header is needed at run time. */
const prelude = `
typedef unsigned short bf16;
__device__ inline float wide(bf16 x) { return __uint_as_float(((unsigned)x) << 16); }
__device__ inline bf16 narrow(float f) {
  unsigned u = __float_as_uint(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return (bf16)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
__device__ inline float rounded(float f) { return wide(narrow(f)); }
struct alignas(16) Eight { bf16 x[8]; };
`;

/** Names the kernel `name` in `source`; nothing is compiled before its first launch. */
export function kernel(name: string, source: string): Kernel {
  let id: number | undefined;
  return ({ blocks, threads }, args) => {
    if (!addon.kernelCompile || !addon.kernelLaunch)
      throw new Error("internal: a kernel in a build without CUDA");
    id ??= addon.kernelCompile(prelude + source, name);
    buffer[0] = id;
    buffer[1] = blocks;
    buffer[2] = threads;
    buffer[3] = args.length;
    for (const [i, argument] of args.entries()) {
      const isTensor = argument instanceof Tensor;
      buffer[4 + 2 * i] = isTensor ? 0 : "int" in argument ? 1 : 2;
      buffer[5 + 2 * i] = isTensor ? argument.handle : "int" in argument ? argument.int : argument.float;
    }
    addon.kernelLaunch();
  };
}

/** Whether a kernel can read these tensors, and whether somebody will ask for their gradients. */
export type KernelFit = "no" | "recorded" | "free";

const bfloat16 = dtypeCode("bfloat16");
const cuda = deviceCode("cuda") >> 8;

/** Kernels read contiguous bfloat16 on a GPU. One question to the addon per tensor: this runs before every launch. */
export function kernelFit(...tensors: readonly Tensor[]): KernelFit {
  if (addon.kernelLaunch === undefined) return "no";
  let wanted = false;
  for (const { handle } of tensors) {
    addon.tensorMeta(handle);
    // see tensorMeta: type, device, wants gradients, bytes, contiguous
    if (buffer[0] !== bfloat16 || (buffer[1] as number) >> 8 !== cuda || buffer[4] === 0) return "no";
    wanted ||= buffer[2] !== 0;
  }
  return wanted && isRecording() ? "recorded" : "free";
}

/** True where a fused kernel may stand in: it fits, and no gradient is wanted. */
export const fusable = (...tensors: readonly Tensor[]): boolean => kernelFit(...tensors) === "free";

function isRecording(): boolean {
  const on = addon.gradMode(true);
  if (!on) addon.gradMode(false);
  return on;
}
