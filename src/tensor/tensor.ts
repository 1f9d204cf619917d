/**
 * A tensor, with the methods that people expect from PyTorch, in camelCase.
 *
 * Each method is one libtorch operator; a trailing underscore changes the tensor in place and returns it. What is
 * not here is one `aten.name(…)` away. Where PyTorch takes a tensor or a number, so do we.
 */
import type { Scalar } from "./dtype.ts";
import type { Generator } from "./generator.ts";
import { methodOperators as o } from "./method-operators.ts";
import { onResult } from "./operator.ts";
import { dims, TensorLayout } from "./tensor-layout.ts";

export type Operand = Tensor | Scalar;
type Shape = readonly number[];

export class Tensor extends TensorLayout {
  // ---- arithmetic
  add(other: Operand): Tensor {
    return other instanceof Tensor ? o.add(this, other) : o.addScalar(this, other);
  }
  sub(other: Operand): Tensor {
    return other instanceof Tensor ? o.sub(this, other) : o.subScalar(this, other);
  }
  mul(other: Operand): Tensor {
    return other instanceof Tensor ? o.mul(this, other) : o.mulScalar(this, other);
  }
  div(other: Operand): Tensor {
    return other instanceof Tensor ? o.div(this, other) : o.divScalar(this, other);
  }
  remainder(other: Operand): Tensor {
    return other instanceof Tensor ? o.remainder(this, other) : o.remainderScalar(this, other);
  }
  pow(other: Operand): Tensor {
    return other instanceof Tensor ? o.pow(this, other) : o.powScalar(this, other);
  }
  floorDivide(other: Operand): Tensor {
    return other instanceof Tensor ? o.divMode(this, other, "floor") : o.divScalarMode(this, other, "floor");
  }
  neg(): Tensor {
    return o.neg(this);
  }
  abs(): Tensor {
    return o.abs(this);
  }
  sign(): Tensor {
    return o.sign(this);
  }
  exp(): Tensor {
    return o.exp(this);
  }
  log(): Tensor {
    return o.log(this);
  }
  log1p(): Tensor {
    return o.log1p(this);
  }
  expm1(): Tensor {
    return o.expm1(this);
  }
  sqrt(): Tensor {
    return o.sqrt(this);
  }
  rsqrt(): Tensor {
    return o.rsqrt(this);
  }
  square(): Tensor {
    return o.square(this);
  }
  reciprocal(): Tensor {
    return o.reciprocal(this);
  }
  sin(): Tensor {
    return o.sin(this);
  }
  cos(): Tensor {
    return o.cos(this);
  }
  tan(): Tensor {
    return o.tan(this);
  }
  tanh(): Tensor {
    return o.tanh(this);
  }
  sigmoid(): Tensor {
    return o.sigmoid(this);
  }
  erf(): Tensor {
    return o.erf(this);
  }
  floor(): Tensor {
    return o.floor(this);
  }
  ceil(): Tensor {
    return o.ceil(this);
  }
  round(): Tensor {
    return o.round(this);
  }
  relu(): Tensor {
    return o.relu(this);
  }
  isnan(): Tensor {
    return o.isnan(this);
  }
  isfinite(): Tensor {
    return o.isfinite(this);
  }
  maximum(other: Tensor): Tensor {
    return o.maximum(this, other);
  }
  minimum(other: Tensor): Tensor {
    return o.minimum(this, other);
  }
  clamp(min?: Scalar | null, max?: Scalar | null): Tensor {
    return o.clamp(this, min ?? null, max ?? null);
  }
  matmul(other: Tensor): Tensor {
    return o.matmul(this, other);
  }
  mm(other: Tensor): Tensor {
    return o.mm(this, other);
  }
  bmm(other: Tensor): Tensor {
    return o.bmm(this, other);
  }
  lerp(end: Tensor, weight: number): Tensor {
    return o.lerp(this, end, weight);
  }

  // ---- comparison and logic
  eq(other: Operand): Tensor {
    return other instanceof Tensor ? o.eq(this, other) : o.eqScalar(this, other);
  }
  ne(other: Operand): Tensor {
    return other instanceof Tensor ? o.ne(this, other) : o.neScalar(this, other);
  }
  lt(other: Operand): Tensor {
    return other instanceof Tensor ? o.lt(this, other) : o.ltScalar(this, other);
  }
  le(other: Operand): Tensor {
    return other instanceof Tensor ? o.le(this, other) : o.leScalar(this, other);
  }
  gt(other: Operand): Tensor {
    return other instanceof Tensor ? o.gt(this, other) : o.gtScalar(this, other);
  }
  ge(other: Operand): Tensor {
    return other instanceof Tensor ? o.ge(this, other) : o.geScalar(this, other);
  }
  logicalAnd(other: Tensor): Tensor {
    return o.logicalAnd(this, other);
  }
  logicalOr(other: Tensor): Tensor {
    return o.logicalOr(this, other);
  }
  logicalNot(): Tensor {
    return o.logicalNot(this);
  }
  any(): Tensor {
    return o.any(this);
  }
  all(): Tensor {
    return o.all(this);
  }
  anyAlong(dim: number, keepdim = false): Tensor {
    return o.anyDim(this, dim, keepdim);
  }
  allAlong(dim: number, keepdim = false): Tensor {
    return o.allDim(this, dim, keepdim);
  }

  // ---- reductions: over everything, or along one or several dimensions
  sum(dim?: number | Shape, keepdim = false): Tensor {
    return dim === undefined ? o.sum(this) : o.sumAlong(this, dims(dim), keepdim);
  }
  mean(dim?: number | Shape, keepdim = false): Tensor {
    return dim === undefined ? o.mean(this) : o.meanAlong(this, dims(dim), keepdim);
  }
  std(dim?: number | Shape, correction = 1, keepdim = false): Tensor {
    return o.std(this, dim === undefined ? null : dims(dim), correction, keepdim);
  }
  variance(dim?: number | Shape, correction = 1, keepdim = false): Tensor {
    return o.variance(this, dim === undefined ? null : dims(dim), correction, keepdim);
  }
  prod(): Tensor {
    return o.prod(this);
  }
  max(): Tensor {
    return o.max(this);
  }
  min(): Tensor {
    return o.min(this);
  }
  maxAlong(dim: number, keepdim = false): [values: Tensor, indices: Tensor] {
    return o.maxDim(this, dim, keepdim);
  }
  minAlong(dim: number, keepdim = false): [values: Tensor, indices: Tensor] {
    return o.minDim(this, dim, keepdim);
  }
  amax(dim: number | Shape = [], keepdim = false): Tensor {
    return o.amax(this, dims(dim), keepdim);
  }
  amin(dim: number | Shape = [], keepdim = false): Tensor {
    return o.amin(this, dims(dim), keepdim);
  }
  argmax(dim?: number, keepdim = false): Tensor {
    return o.argmax(this, dim ?? null, keepdim);
  }
  argmin(dim?: number, keepdim = false): Tensor {
    return o.argmin(this, dim ?? null, keepdim);
  }
  norm(p = 2): Tensor {
    return o.norm(this, p);
  }
  cumsum(dim: number): Tensor {
    return o.cumsum(this, dim);
  }
  sort(dim = -1, descending = false): [values: Tensor, indices: Tensor] {
    return o.sort(this, dim, descending);
  }
  argsort(dim = -1, descending = false): Tensor {
    return o.argsort(this, dim, descending);
  }
  topk(k: number, dim = -1): [values: Tensor, indices: Tensor] {
    return o.topk(this, k, dim);
  }
  softmax(dim: number): Tensor {
    return o.softmax(this, dim);
  }
  logSoftmax(dim: number): Tensor {
    return o.logSoftmax(this, dim);
  }
  logsumexp(dim: number, keepdim = false): Tensor {
    return o.logsumexp(this, [dim], keepdim);
  }

  // ---- in place
  add_(other: Operand): this {
    return (other instanceof Tensor ? o.add_(this, other) : o.add_Scalar(this, other)) as this;
  }
  sub_(other: Operand): this {
    return (other instanceof Tensor ? o.sub_(this, other) : o.sub_Scalar(this, other)) as this;
  }
  mul_(other: Operand): this {
    return (other instanceof Tensor ? o.mul_(this, other) : o.mul_Scalar(this, other)) as this;
  }
  div_(other: Operand): this {
    return (other instanceof Tensor ? o.div_(this, other) : o.div_Scalar(this, other)) as this;
  }
  addcmul_(a: Tensor, b: Tensor, value = 1): this {
    return o.addcmul_(this, a, b, value) as this;
  }
  lerp_(end: Tensor, weight: number): this {
    return o.lerp_(this, end, weight) as this;
  }
  clamp_(min?: Scalar | null, max?: Scalar | null): this {
    return o.clamp_(this, min ?? null, max ?? null) as this;
  }
  copy_(source: Tensor, nonBlocking = false): this {
    return o.copy_(this, source, nonBlocking) as this;
  }
  fill_(value: Scalar): this {
    return o.fill_(this, value) as this;
  }
  zero_(): this {
    return o.zero_(this) as this;
  }
  indexCopy_(dim: number, index: Tensor, source: Tensor): this {
    return o.indexCopy_(this, dim, index, source) as this;
  }
  normal_(mean = 0, std = 1, generator?: Generator): this {
    return o.normal_(this, mean, std, generator) as this;
  }
  uniform_(low = 0, high = 1, generator?: Generator): this {
    return o.uniform_(this, low, high, generator) as this;
  }
}

onResult((handle) => (handle === 0 ? null : new Tensor(handle)));
