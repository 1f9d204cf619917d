/**
 * Fresh parameters.
 *
 * A constructor leaves them unset (or zero, or one): values come from a checkpoint, or from one of the initializers
 * here, which draw from a named generator so that a run's start is reproducible.
 */
import { empty, full, type Generator, noGrad, type Tensor } from "#tensor";
import type { ModuleOptions } from "./module.ts";

/** An unset parameter that wants gradients. */
export const parameter = (shape: readonly number[], options: ModuleOptions = {}): Tensor =>
  empty(shape, options).requiresGrad_();

/** A parameter that begins with one value everywhere, such as a norm's scale or a bias. */
export const constant = (shape: readonly number[], value: number, options: ModuleOptions = {}): Tensor =>
  full(shape, value, { dtype: "float32", ...options }).requiresGrad_();

/** A tensor that is saved with the model but never trained. */
export const buffer = (shape: readonly number[], options: ModuleOptions = {}): Tensor =>
  empty(shape, options);

export const initNormal = (tensor: Tensor, std: number, generator: Generator): Tensor =>
  noGrad(() => tensor.normal_(0, std, generator));

export const initUniform = (tensor: Tensor, bound: number, generator: Generator): Tensor =>
  noGrad(() => tensor.uniform_(-bound, bound, generator));
