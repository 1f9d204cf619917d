/**
 * What every tensor is, before any arithmetic: a handle, its shape and type, its life, its gradient, its bytes.
 *
 * `Tensor` in tensor.ts adds the operators. A tensor belongs to the JavaScript thread that made it; `share` hands
 * one over without a copy.
 */
import { addon, buffer } from "./addon.ts";
import { arrayTypes, type Device, type DType, deviceName, dtypeName, type TypedArray } from "./dtype.ts";
import { enter, type Living, release } from "./living.ts";
import { fast } from "./operator.ts";
import type { Tensor } from "./tensor.ts";

/** Node 20 has no Symbol.dispose; `using` looks it up under this name. */
const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);
if (Symbol.dispose === undefined) Object.defineProperty(Symbol, "dispose", { value: disposeSymbol });

export class TensorCore implements Living {
  /** The addon's number for it; 0 once disposed. */
  handle: number;
  owner: readonly Living[] | null = null;

  constructor(handle: number) {
    this.handle = handle;
    enter(this);
  }

  dispose(): void {
    release(this);
  }
  [disposeSymbol](): void {
    release(this);
  }
  get disposed(): boolean {
    return this.handle === 0;
  }

  // ---- what it is

  get shape(): number[] {
    addon.tensorMeta(this.handle);
    return Array.from(buffer.subarray(6, 6 + (buffer[5] as number)));
  }
  get strides(): number[] {
    addon.tensorMeta(this.handle);
    const n = buffer[5] as number;
    return Array.from(buffer.subarray(6 + n, 6 + 2 * n));
  }
  get dtype(): DType {
    addon.tensorMeta(this.handle);
    return dtypeName(buffer[0] as number);
  }
  get device(): Device {
    addon.tensorMeta(this.handle);
    return deviceName(buffer[1] as number);
  }
  get ndim(): number {
    addon.tensorMeta(this.handle);
    return buffer[5] as number;
  }
  get numel(): number {
    return this.shape.reduce((product, size) => product * size, 1);
  }
  get byteLength(): number {
    addon.tensorMeta(this.handle);
    return buffer[3] as number;
  }
  get isContiguous(): boolean {
    addon.tensorMeta(this.handle);
    return buffer[4] !== 0;
  }
  /** The size of one dimension; negative counts from the end. */
  size(dim: number): number {
    const size = this.shape.at(dim);
    if (size === undefined) throw new RangeError(`no dimension ${dim} in a tensor of shape [${this.shape}]`);
    return size;
  }

  // ---- gradients

  get requiresGrad(): boolean {
    addon.tensorMeta(this.handle);
    return buffer[2] !== 0;
  }
  requiresGrad_(on = true): this {
    addon.setRequiresGrad(this.handle, on);
    return this;
  }
  get grad(): Tensor | null {
    const handle = addon.gradGet(this.handle);
    return handle === 0 ? null : this.like(handle);
  }
  set grad(gradient: Tensor | null) {
    addon.gradSet(this.handle, gradient?.handle ?? 0);
  }
  /** Accumulates gradients into the leaves; `gradient` is needed unless this is a single number. */
  backward(gradient?: Tensor, { retainGraph = false, createGraph = false } = {}): void {
    addon.backward([this.handle], gradient ? [gradient.handle] : [], retainGraph || createGraph, createGraph);
  }

  // ---- its numbers

  /** The one number it holds. */
  item(): number {
    return addon.tensorItem(this.handle);
  }
  /** A copy of its values, in row-major order, whatever its device; 16-bit floats come as their bits. */
  data(): TypedArray {
    return new arrayTypes[this.dtype](addon.tensorToBytes(this.handle));
  }
  /** Its own memory as a typed array, without a copy: writing to one changes the other. CPU and contiguous only. */
  hostView(): TypedArray {
    return new arrayTypes[this.dtype](addon.tensorHostView(this.handle));
  }
  /** A flat list of numbers. */
  toArray(): number[] {
    const { dtype } = this;
    if (dtype !== "float16" && dtype !== "bfloat16") return Array.from(this.data(), Number);
    const wide = toFloat(this as unknown as Tensor, "float32") as Tensor;
    const values = Array.from(wide.data(), Number);
    wide.dispose();
    return values;
  }
  /** Numbers nested as its shape says; a single number for a tensor without dimensions. */
  nested(): unknown {
    const values = this.toArray();
    const [first, ...rest] = this.shape;
    if (first === undefined) return values[0];
    return rest.reduceRight<unknown[]>((flat, size) => chunked(flat, size), values);
  }

  /** Another tensor of the same class, around a handle of the addon. */
  protected like(handle: number): Tensor {
    return new (this.constructor as new (handle: number) => Tensor)(handle);
  }

  toString(): string {
    return this.disposed ? "Tensor(disposed)" : `Tensor([${this.shape}], ${this.dtype}, ${this.device})`;
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

const toFloat = (x: Tensor, dtype: DType) => fast("aten::to.dtype")(x, dtype);

function chunked(flat: readonly unknown[], size: number): unknown[] {
  if (size === 0) return [];
  return Array.from({ length: flat.length / size }, (_, i) => flat.slice(i * size, (i + 1) * size));
}
