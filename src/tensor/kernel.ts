/**
 * Fused GPU kernels from CUDA source, compiled when first used.
 *
 * For chains of element-wise operators that are bound by memory: one pass instead of five. Every kernel has a twin in
 * plain operators that defines it, runs everywhere else, and is what tests compare it with. A kernel has no gradient of
 * its own; `withGradients` gives its results one, by naming other kernels. REVERIE_FUSED=0 turns all of them off, to see
 * what they change.
 */
import { addon, buffer } from "./addon.ts";
import { deviceCode, dtypeCode } from "./dtype.ts";
import { Tensor } from "./tensor.ts";

export type KernelArgument = Tensor | { readonly int: number } | { readonly float: number };

export interface KernelSize {
  readonly blocks: number;
  readonly threads: number;
}

export interface Kernel {
  (size: KernelSize, args: readonly KernelArgument[]): void;
  /** Its number in the addon; compiles it if nobody has. */
  id(): number;
}

/**
 * Shared by every kernel: bfloat16 as bits, rounded to nearest even, so that no header is needed at run time. From sm_80 on one
 * instruction does it; older GPUs and the CPU twins of tests take integers.
 */
const prelude = `
typedef unsigned short bf16;
__device__ inline float wide(bf16 x) { return __uint_as_float(((unsigned)x) << 16); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ inline bf16 narrow(float f) { bf16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(f)); return r; }
#else
__device__ inline bf16 narrow(float f) {
  unsigned u = __float_as_uint(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return (bf16)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
#endif
__device__ inline float rounded(float f) { return wide(narrow(f)); }
struct alignas(16) Eight { bf16 x[8]; };
`;

const sources = new Map<string, string>();

/** Every kernel named so far with its whole source, for tests that compile it where no GPU is. */
export const kernelSources = (): ReadonlyMap<string, string> => sources;

/** Names the kernel `name` in `source`; nothing is compiled before its first launch. */
export function kernel(name: string, source: string): Kernel {
  sources.set(name, prelude + source);
  let known: number | undefined;
  const id = (): number => {
    if (!addon.kernelCompile) throw new Error("internal: a kernel in a build without CUDA");
    known ??= addon.kernelCompile(prelude + source, name);
    return known;
  };
  const launch = ({ blocks, threads }: KernelSize, args: readonly KernelArgument[]): void => {
    buffer[0] = id();
    buffer[1] = blocks;
    buffer[2] = threads;
    buffer[3] = args.length;
    for (const [i, argument] of args.entries()) {
      const isTensor = argument instanceof Tensor;
      buffer[4 + 2 * i] = isTensor ? 0 : "int" in argument ? 1 : 2;
      buffer[5 + 2 * i] = isTensor ? argument.handle : "int" in argument ? argument.int : argument.float;
    }
    addon.kernelLaunch?.();
  };
  return Object.assign(launch, { id });
}

/**
 * What a gradient's kernel is given besides: the gradients that come in, room for the one of each input, and room in between,
 * by number.
 */
export type GradientArgument =
  | KernelArgument
  | { readonly gradOutput: number }
  | { readonly gradInput: number }
  | { readonly scratch: number };

/** One launch of a backward pass. */
export interface GradientLaunch {
  readonly kernel: Kernel;
  readonly size: KernelSize;
  readonly args: readonly GradientArgument[];
}

/**
 * Makes `outputs`, computed by a kernel and without history, depend on `inputs`. Their gradients, of each input's type and shape,
 * are what the launches write, in turn; libtorch itself launches them later: nothing calls back into JavaScript. `scratch`
 * counts the float32 numbers of each room in between.
 */
export function withGradients(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  launches: readonly GradientLaunch[],
  scratch: readonly number[] = [],
): Tensor[] {
  if (!addon.kernelRecord) throw new Error("internal: a kernel in a build without CUDA");
  const saved: number[] = [];
  const words: number[] = [];
  for (const { kernel, size, args } of launches) {
    words.push(kernel.id(), size.blocks, size.threads, args.length);
    for (const argument of args) words.push(...wordsOf(argument, saved));
  }
  const handles = (tensors: readonly Tensor[]): number[] => tensors.map(({ handle }) => handle);
  addon.kernelRecord(handles(outputs), handles(inputs), saved, [...scratch], words);
  const recorded = outputs.map((_, i) => buffer[i] as number);
  return recorded.map((handle) => new Tensor(handle));
}

/** An argument as the addon wants it; tensors go to `saved` and are named by their place there. */
function wordsOf(argument: GradientArgument, saved: number[]): [kind: number, value: number] {
  if (argument instanceof Tensor) return [0, saved.push(argument.handle) - 1];
  if ("int" in argument) return [1, argument.int];
  if ("float" in argument) return [2, argument.float];
  if ("gradOutput" in argument) return [3, argument.gradOutput];
  return "gradInput" in argument ? [4, argument.gradInput] : [5, argument.scratch];
}

/** `withGradients` for one output and one launch. */
export const withGradient = (
  output: Tensor,
  inputs: readonly Tensor[],
  kernel: Kernel,
  size: KernelSize,
  args: readonly GradientArgument[],
): Tensor => withGradients([output], inputs, [{ kernel, size, args }])[0] as Tensor;

/** Whether a kernel can read these tensors, and whether somebody will ask for their gradients. */
export type KernelFit = "no" | "recorded" | "free";

let turnedOff = process.env.REVERIE_FUSED === "0";

/** Turns all fused kernels on or off for what is issued from now on; returns how it was. For benches and comparisons. */
export function useKernels(on: boolean): boolean {
  const before = !turnedOff;
  turnedOff = !on;
  return before;
}
const bfloat16 = dtypeCode("bfloat16");
const cuda = deviceCode("cuda") >> 8;

/** Kernels read contiguous bfloat16 on a GPU. One question to the addon per tensor: this runs before every launch. */
export function kernelFit(...tensors: readonly Tensor[]): KernelFit {
  if (addon.kernelLaunch === undefined || turnedOff) return "no";
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
