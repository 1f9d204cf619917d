/** The door to libtorch: tensors, their operators, gradients, lifetimes, devices and collectives. */

export { aten } from "./aten.ts";
export {
  arange,
  cat,
  empty,
  full,
  linspace,
  multinomial,
  ones,
  rand,
  randint,
  randn,
  randperm,
  stack,
  tensor,
  where,
  zeros,
} from "./create.ts";
export { deviceMemory, emptyCache, Fork, Graph } from "./cuda.ts";
export { PeerLost, ProcessGroup } from "./distributed.ts";
export type { Device, DType } from "./dtype.ts";
export { findNotFinite } from "./finite.ts";
export { Generator, manualSeed } from "./generator.ts";
export { grad, noGrad } from "./gradients.ts";
export {
  fusable,
  type GradientLaunch,
  type Kernel,
  type KernelArgument,
  type KernelSize,
  kernel,
  kernelFit,
  kernelSources,
  useKernels,
  withGradient,
  withGradients,
} from "./kernel.ts";
export { type Layer, layerWise } from "./layer-wise.ts";
export { keep, liveTensors, scope } from "./living.ts";
export * from "./machine.ts";
export { giveTensor, type MappedFile, mapFile, takeTensor } from "./map-file.ts";
export { globalNorm } from "./norm.ts";
export { fast } from "./operator.ts";
export { Tensor } from "./tensor.ts";
