/**
 * The part of a tensor that moves values without computing: picking elements, shapes, types, devices, copies.
 *
 * Kept apart from the arithmetic in tensor.ts only for length; `Tensor` is the class that everybody uses.
 */
import type { Device, DType, Scalar } from "./dtype.ts";
import { methodOperators as o } from "./method-operators.ts";
import type { Tensor } from "./tensor.ts";
import { TensorCore } from "./tensor-core.ts";

type Shape = readonly number[];

export interface ToOptions {
  readonly dtype?: DType | undefined;
  readonly device?: Device | undefined;
  /** Lets a copy between pinned host memory and a GPU overlap with other work. */
  readonly nonBlocking?: boolean;
  readonly copy?: boolean;
}

export const dims = (dim: number | Shape): Shape => (typeof dim === "number" ? [dim] : dim);

/** Every instance is a Tensor: nothing else extends this class. */
const self = (tensor: TensorLayout): Tensor => tensor as Tensor;

export class TensorLayout extends TensorCore {
  // ---- picking elements
  select(dim: number, index: number): Tensor {
    return o.select(self(this), dim, index);
  }
  narrow(dim: number, start: number, length: number): Tensor {
    return o.narrow(self(this), dim, start, length);
  }
  slice(dim: number, start: number, end?: number, step = 1): Tensor {
    return o.slice(self(this), dim, start, end ?? null, step);
  }
  gather(dim: number, index: Tensor): Tensor {
    return o.gather(self(this), dim, index);
  }
  scatter(dim: number, index: Tensor, source: Tensor): Tensor {
    return o.scatter(self(this), dim, index, source);
  }
  indexSelect(dim: number, index: Tensor): Tensor {
    return o.indexSelect(self(this), dim, index);
  }
  index(indices: readonly (Tensor | null)[]): Tensor {
    return o.index(self(this), indices);
  }
  maskedSelect(mask: Tensor): Tensor {
    return o.maskedSelect(self(this), mask);
  }
  maskedFill(mask: Tensor, value: Scalar): Tensor {
    return o.maskedFill(self(this), mask, value);
  }
  nonzero(): Tensor {
    return o.nonzero(self(this));
  }
  diagonal(): Tensor {
    return o.diagonal(self(this));
  }
  tril(diagonal = 0): Tensor {
    return o.tril(self(this), diagonal);
  }
  triu(diagonal = 0): Tensor {
    return o.triu(self(this), diagonal);
  }

  // ---- shape
  reshape(shape: Shape): Tensor {
    return o.reshape(self(this), shape);
  }
  view(shape: Shape): Tensor {
    return o.view(self(this), shape);
  }
  viewAs(dtype: DType): Tensor {
    return o.viewDtype(self(this), dtype);
  }
  flatten(start = 0, end = -1): Tensor {
    return o.flatten(self(this), start, end);
  }
  unflatten(dim: number, sizes: Shape): Tensor {
    return o.unflatten(self(this), dim, sizes);
  }
  transpose(a: number, b: number): Tensor {
    return o.transpose(self(this), a, b);
  }
  permute(order: Shape): Tensor {
    return o.permute(self(this), order);
  }
  squeeze(dim?: number): Tensor {
    return dim === undefined ? o.squeeze(self(this)) : o.squeezeDim(self(this), dim);
  }
  unsqueeze(dim: number): Tensor {
    return o.unsqueeze(self(this), dim);
  }
  expand(shape: Shape): Tensor {
    return o.expand(self(this), shape);
  }
  expandAs(other: Tensor): Tensor {
    return o.expandAs(self(this), other);
  }
  repeat(times: Shape): Tensor {
    return o.repeat(self(this), times);
  }
  repeatInterleave(times: number, dim: number): Tensor {
    return o.repeatInterleave(self(this), times, dim);
  }
  chunk(count: number, dim = 0): Tensor[] {
    return o.chunk(self(this), count, dim);
  }
  split(size: number | Shape, dim = 0): Tensor[] {
    return typeof size === "number" ? o.split(self(this), size, dim) : o.splitSizes(self(this), size, dim);
  }
  unbind(dim = 0): Tensor[] {
    return o.unbind(self(this), dim);
  }
  flip(dim: number | Shape): Tensor {
    return o.flip(self(this), dims(dim));
  }
  roll(shift: number | Shape, dim: number | Shape = []): Tensor {
    return o.roll(self(this), dims(shift), dims(dim));
  }
  contiguous(): Tensor {
    return o.contiguous(self(this));
  }

  // ---- type, device, copies
  /** The same values in another type or on another device; itself when nothing changes. */
  to({ dtype, device, nonBlocking = false, copy = false }: ToOptions): Tensor {
    return o.to(this, dtype, undefined, device, undefined, nonBlocking, copy);
  }
  float(): Tensor {
    return o.toDtype(self(this), "float32");
  }
  double(): Tensor {
    return o.toDtype(self(this), "float64");
  }
  half(): Tensor {
    return o.toDtype(self(this), "float16");
  }
  bfloat16(): Tensor {
    return o.toDtype(self(this), "bfloat16");
  }
  long(): Tensor {
    return o.toDtype(self(this), "int64");
  }
  int(): Tensor {
    return o.toDtype(self(this), "int32");
  }
  byte(): Tensor {
    return o.toDtype(self(this), "uint8");
  }
  bool(): Tensor {
    return o.toDtype(self(this), "bool");
  }
  cpu(): Tensor {
    return this.to({ device: "cpu" });
  }
  cuda(index = 0): Tensor {
    return this.to({ device: `cuda:${index}` });
  }
  clone(): Tensor {
    return o.clone(self(this));
  }
  detach(): Tensor {
    return o.detach(self(this));
  }
  pinned(): Tensor {
    return o.pin(self(this));
  }
}
