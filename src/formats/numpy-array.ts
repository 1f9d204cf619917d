/** NumPy arrays as read from `.npy`, `.npz` and pickles: numbers, text or objects, always in C order. */
import type { Fault } from "./file-fault.ts";
import {
  countElements,
  elementBytes,
  elementsFromBytes,
  type NumericArray,
  swapByteOrder,
  toRowMajor,
} from "./numeric-array.ts";
import type { NumpyType } from "./numpy-dtype.ts";
import { printableShape } from "./printable.ts";

export interface TextArray {
  readonly dtype: "text";
  readonly shape: readonly number[];
  readonly data: readonly string[];
}

export interface ObjectArray {
  readonly dtype: "object";
  readonly shape: readonly number[];
  readonly data: readonly unknown[];
}

export type NumpyArray = NumericArray | TextArray | ObjectArray;

export const isNumericArray = (value: unknown): value is NumericArray =>
  ArrayBuffer.isView((value as NumericArray | null | undefined)?.data);

export interface RawArray {
  readonly type: Exclude<NumpyType, { kind: "object" }>;
  readonly shape: readonly number[];
  readonly fortran: boolean;
  readonly bytes: Uint8Array;
}

/** How many bytes the array needs: to be compared with what the file has before anything is allocated. */
export function arrayBytes(type: RawArray["type"], shape: readonly number[], fault: Fault): number {
  const bytes = countElements(shape, fault) * itemBytes(type);
  if (!Number.isSafeInteger(bytes))
    throw fault(`it declares an array of impossible shape ${printableShape(shape)}`);
  return bytes;
}

/** Texts become values of their own, each many times larger than its bytes; names and sentences are few. */
const mostTexts = 2_000_000;

export function decodeArray({ type, shape, fortran, bytes }: RawArray, fault: Fault): NumpyArray {
  const expected = arrayBytes(type, shape, fault);
  if (bytes.byteLength !== expected) {
    throw fault(
      `an array of shape ${printableShape(shape)} needs ${expected} bytes, but ${bytes.byteLength} are there`,
    );
  }
  const ordered = <T extends NumericArray["data"] | unknown[]>(data: T): T =>
    fortran && shape.length > 1 ? toRowMajor(data, shape) : data;
  if (type.kind !== "number") {
    const count = countElements(shape, fault);
    if (count > mostTexts) throw fault(`it holds ${count} texts; at most ${mostTexts} are read`);
    return { dtype: "text", shape, data: ordered(decodeText(type, bytes)) };
  }
  const inOrder = type.bigEndian ? swapByteOrder(bytes, itemBytes(type)) : bytes;
  return { dtype: type.dtype, shape, data: ordered(elementsFromBytes(type.dtype, inOrder)) };
}

export function objectArray(shape: readonly number[], fortran: boolean, items: unknown[], fault: Fault) {
  const count = countElements(shape, fault);
  if (items.length !== count) {
    throw fault(
      `an array of shape ${printableShape(shape)} needs ${count} objects, but ${items.length} are there`,
    );
  }
  const data = fortran && shape.length > 1 ? toRowMajor(items, shape) : items;
  return { dtype: "object", shape, data } satisfies ObjectArray;
}

function itemBytes(type: RawArray["type"]): number {
  if (type.kind === "number") return elementBytes(type.dtype);
  return type.kind === "text" ? type.width * 4 : type.width;
}

function decodeText(type: Exclude<RawArray["type"], { kind: "number" }>, bytes: Uint8Array): string[] {
  const width = itemBytes(type);
  const texts: string[] = [];
  for (let start = 0; width > 0 && start < bytes.byteLength; start += width) {
    const item = bytes.subarray(start, start + width);
    texts.push(type.kind === "text" ? fixedText(item, type.bigEndian) : fixedBytes(item));
  }
  return texts;
}

/** NumPy pads with zeros, and so cannot tell a trailing zero from none; nor can we. */
function fixedText(item: Uint8Array, bigEndian: boolean): string {
  const view = new DataView(item.buffer, item.byteOffset, item.byteLength);
  let text = "";
  for (let at = 0; at < item.byteLength; at += 4) {
    const code = view.getUint32(at, !bigEndian);
    text += String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd);
  }
  return trimZeros(text);
}

const fixedBytes = (item: Uint8Array): string =>
  trimZeros(Buffer.from(item.buffer, item.byteOffset, item.byteLength).toString("latin1"));

/** A loop and not /\0+$/, which takes quadratic time on zeros that something follows. */
function trimZeros(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end--;
  return text.slice(0, end);
}
