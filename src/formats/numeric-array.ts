/**
 * Arrays as files hold them: an element type, a shape and a typed array in C order.
 *
 * Plain data, so that code which needs numbers but no tensors (initial states, statistics, replay files)
 * does not have to know libtorch. float16 and bfloat16 are kept as their bits in a Uint16Array.
 */
import type { Fault } from "./file-fault.ts";
import { printableShape } from "./printable.ts";

const constructors = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export type ElementType = keyof typeof constructors;
export type ElementData = InstanceType<(typeof constructors)[ElementType]>;

export interface NumericArray {
  readonly dtype: ElementType;
  readonly shape: readonly number[];
  readonly data: ElementData;
}

export const elementBytes = (dtype: ElementType): number => constructors[dtype].BYTES_PER_ELEMENT;

/** The number of elements of a shape that came from a file; a fault when it is no shape at all. */
export function countElements(shape: readonly unknown[], fault: Fault): number {
  if (shape.length > 64) throw fault(`it declares an array of ${shape.length} dimensions`);
  let count = 1;
  for (const size of shape) {
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) {
      throw fault(
        `it declares an array of shape ${printableShape(shape)}; sizes must be whole and not negative`,
      );
    }
    count *= size;
  }
  // A zero elsewhere in the shape does not excuse sizes whose product no computer can hold.
  const nonZero = (shape as readonly number[]).reduce((product, size) => product * (size || 1), 1);
  if (!Number.isSafeInteger(nonZero))
    throw fault(`it declares an array of impossible shape ${printableShape(shape)}`);
  return count;
}

/** Bytes as typed elements: a view where alignment allows it, else a copy of the same size. */
export function elementsFromBytes(dtype: ElementType, bytes: Uint8Array): ElementData {
  const size = elementBytes(dtype);
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  const Elements = constructors[dtype] as new (
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
  ) => ElementData;
  return new Elements(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
}

export const bytesOfElements = (data: ElementData): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** A copy with the bytes of each element reversed: big-endian files on our little-endian machines. */
export function swapByteOrder(bytes: Uint8Array, width: number): Uint8Array {
  const swapped = bytes.slice();
  for (let start = 0; start < swapped.length; start += width)
    swapped.subarray(start, start + width).reverse();
  return swapped;
}

/** Column-major (Fortran) elements into row-major order; works on anything indexable of equal length. */
export function toRowMajor<T extends ElementData | unknown[]>(data: T, shape: readonly number[]): T {
  const result = data.slice() as T;
  const index = new Array<number>(shape.length).fill(0);
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, size) => product * size, 1));
  for (let position = 0; position < data.length; position++) {
    let source = 0;
    for (let axis = 0; axis < shape.length; axis++) source += index[axis]! * strides[axis]!;
    (result as unknown[])[position] = data[source];
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis]! === shape[axis]; axis--) index[axis] = 0;
  }
  return result;
}
