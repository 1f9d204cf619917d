/** The door to libtorch: tensors, their operators, gradients, lifetimes, devices and collectives. */

export type { DeviceMemory } from "./addon.ts";
export { aten } from "./aten.ts";
export {
  arange,
  type CreateOptions,
  cat,
  empty,
  eye,
  full,
  linspace,
  multinomial,
  ones,
  type RandomOptions,
  rand,
  randint,
  randn,
  randperm,
  stack,
  tensor,
  where,
  zeros,
} from "./create.ts";
export {
  type CaptureOptions,
  deviceMemory,
  Event,
  emptyCache,
  Fork,
  Graph,
  Stream,
} from "./cuda.ts";
export { type Backend, type GroupOptions, PeerLost, ProcessGroup, type Reduction } from "./distributed.ts";
export type { Device, DType, Scalar, TypedArray } from "./dtype.ts";
export { findNotFinite } from "./finite.ts";
export { Generator, manualSeed } from "./generator.ts";
export { enableGrad, type GradOptions, grad, inferenceMode, noGrad } from "./gradients.ts";
export {
  fusable,
  type GradientArgument,
  type GradientLaunch,
  type Kernel,
  type KernelArgument,
  type KernelFit,
  type KernelSize,
  kernel,
  kernelFit,
  kernelSources,
  useKernels,
  withGradient,
  withGradients,
} from "./kernel.ts";
export { type Layer, type LayerWiseResult, layerWise } from "./layer-wise.ts";
export { keep, liveTensors, scope } from "./living.ts";
export * from "./machine.ts";
export { giveTensor, type MappedFile, mapFile, takeTensor } from "./map-file.ts";
export { globalNorm } from "./norm.ts";
export { fast, op } from "./operator.ts";
export { type Operand, Tensor } from "./tensor.ts";
export type { ToOptions } from "./tensor-layout.ts";
