/** Making tensors: from JavaScript data, filled, counted, random; and joining several into one. */
import { UserError } from "#registry";
import { addon } from "./addon.ts";
import { type Device, type DType, dtypeCode, dtypeOfArray, type Scalar, type TypedArray } from "./dtype.ts";
import type { Generator } from "./generator.ts";
import { fast } from "./operator.ts";
import { Tensor } from "./tensor.ts";

export interface CreateOptions {
  readonly dtype?: DType | undefined;
  readonly device?: Device | undefined;
}
export interface RandomOptions extends CreateOptions {
  readonly generator?: Generator | undefined;
}
export interface DataOptions extends CreateOptions {
  readonly shape?: readonly number[] | undefined;
  /** Page-locked host memory, from which copies to a GPU are fast and can overlap. */
  readonly pinned?: boolean;
}
type Nested = number | bigint | boolean | readonly Nested[];
type Shape = readonly number[];

/** A tensor with the given numbers: nested arrays give the shape; typed arrays are flat unless `shape` says more. */
export function tensor(data: Nested | TypedArray, options: DataOptions = {}): Tensor {
  if (ArrayBuffer.isView(data)) return fromTypedArray(data as TypedArray, options);
  const shape = options.shape ?? shapeOf(data as Nested);
  const values = [data].flat(16) as (number | bigint | boolean)[];
  const dtype =
    options.dtype ??
    (typeof values[0] === "bigint" ? "int64" : typeof values[0] === "boolean" ? "bool" : "float32");
  const wide = dtype === "int64" ? BigInt64Array.from(values, toBigInt) : Float64Array.from(values, Number);
  return fromTypedArray(wide as TypedArray, { ...options, shape, dtype });
}

const toBigInt = (value: number | bigint | boolean): bigint =>
  BigInt(typeof value === "number" ? Math.trunc(value) : value);

function shapeOf(data: Nested): number[] {
  const shape: number[] = [];
  for (let level = data; Array.isArray(level); level = level[0] as Nested) shape.push(level.length);
  const expected = shape.reduce((product, size) => product * size, 1);
  const actual = ([data].flat(16) as unknown[]).length;
  if (actual !== expected)
    throw new UserError(`ragged nested arrays: shape [${shape}] needs ${expected} numbers, found ${actual}`);
  return shape;
}

function fromTypedArray(
  data: TypedArray,
  { shape = [data.length], dtype, device, pinned = false }: DataOptions,
): Tensor {
  const bits16 = data instanceof Uint16Array && (dtype === "bfloat16" || dtype === "float16");
  const natural = bits16
    ? dtype
    : data instanceof Uint8Array && dtype === "bool"
      ? "bool"
      : dtypeOfArray(data);
  const made = new Tensor(addon.tensorFromBytes(data, dtypeCode(natural), shape, pinned));
  if ((dtype === undefined || dtype === natural) && (device === undefined || device === "cpu")) return made;
  const moved = made.to({ dtype: dtype ?? natural, device: device ?? "cpu" });
  if (moved !== made) made.dispose();
  return moved;
}

// ---- filled

const o = {
  zeros: fast("aten::zeros"),
  ones: fast("aten::ones"),
  empty: fast("aten::empty.memory_format"),
  full: fast("aten::full"),
  arange: fast("aten::arange.start_step"),
  linspace: fast("aten::linspace"),
  eye: fast("aten::eye"),
  randn: fast("aten::randn.generator"),
  rand: fast("aten::rand.generator"),
  randint: fast("aten::randint.low_generator"),
  randperm: fast("aten::randperm.generator"),
  multinomial: fast("aten::multinomial"),
  cat: fast("aten::cat"),
  stack: fast("aten::stack"),
  where: fast("aten::where.self"),
} as Record<string, (...args: unknown[]) => Tensor>;

/** dtype, layout, device, pin_memory: the tail of every factory's schema. */
const tail = ({ dtype = "float32", device = "cpu" }: CreateOptions) => [dtype, undefined, device] as const;

export const zeros = (shape: Shape, options: CreateOptions = {}): Tensor => o.zeros!(shape, ...tail(options));
export const ones = (shape: Shape, options: CreateOptions = {}): Tensor => o.ones!(shape, ...tail(options));
/** Memory as it comes: write before you read. */
export const empty = (shape: Shape, options: CreateOptions = {}): Tensor => o.empty!(shape, ...tail(options));
export const full = (shape: Shape, value: Scalar, options: CreateOptions = {}): Tensor =>
  o.full!(shape, value, ...tail(options));
/** start, start + step, … up to but without end. */
export const arange = (start: number, end: number, step = 1, options: CreateOptions = {}): Tensor =>
  o.arange!(start, end, step, ...tail(options));
export const linspace = (start: number, end: number, steps: number, options: CreateOptions = {}): Tensor =>
  o.linspace!(start, end, steps, ...tail(options));
export const eye = (size: number, options: CreateOptions = {}): Tensor => o.eye!(size, ...tail(options));

// ---- random

export const randn = (shape: Shape, options: RandomOptions = {}): Tensor =>
  o.randn!(shape, options.generator ?? null, ...tail(options));
export const rand = (shape: Shape, options: RandomOptions = {}): Tensor =>
  o.rand!(shape, options.generator ?? null, ...tail(options));
/** Whole numbers in [low, high). */
export const randint = (
  low: number,
  high: number,
  shape: Shape,
  { dtype = "int64", ...options }: RandomOptions = {},
): Tensor => o.randint!(low, high, shape, options.generator ?? null, ...tail({ dtype, ...options }));
export const randperm = (size: number, { dtype = "int64", ...options }: RandomOptions = {}): Tensor =>
  o.randperm!(size, options.generator ?? null, ...tail({ dtype, ...options }));
/** Draws `count` indices a row from unnormalized probabilities. */
export const multinomial = (
  weights: Tensor,
  count: number,
  replacement = false,
  generator?: Generator,
): Tensor => o.multinomial!(weights, count, replacement, generator ?? null);

// ---- joined

export const cat = (tensors: readonly Tensor[], dim = 0): Tensor => o.cat!(tensors, dim);
export const stack = (tensors: readonly Tensor[], dim = 0): Tensor => o.stack!(tensors, dim);
export const where = (condition: Tensor, yes: Tensor, no: Tensor): Tensor => o.where!(condition, yes, no);
