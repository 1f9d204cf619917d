/** The door to libtorch: tensors, their operators, gradients, lifetimes, devices, optimisers and collectives. */

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
export type { Device, DType, Scalar, TypedArray } from "./dtype.ts";
export { Generator, manualSeed } from "./generator.ts";
export { enableGrad, type GradOptions, grad, inferenceMode, noGrad } from "./gradients.ts";
export { keep, liveTensors, scope } from "./living.ts";
export * from "./machine.ts";
export { giveTensor, type MappedFile, mapFile, takeTensor } from "./map-file.ts";
export { fast, op } from "./operator.ts";
export { type Operand, Tensor, type ToOptions } from "./tensor.ts";
