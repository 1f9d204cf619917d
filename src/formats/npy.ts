/**
 * NumPy's `.npy` files, versions 1 to 3, including arrays of pickled objects.
 *
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. The header is a Python literal;
 * it is matched, never evaluated. Objects go through the restricted unpickler.
 */
import { replaceFile } from "./atomic-write.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { readWholeFile } from "./file-bytes.ts";
import { type Fault, fileFault } from "./file-fault.ts";
import { bytesOfElements, type NumericArray } from "./numeric-array.ts";
import { arrayBytes, decodeArray, type NumpyArray, objectArray } from "./numpy-array.ts";
import { type NumpyType, numpyCodes, parseNumpyType } from "./numpy-dtype.ts";
import { builtinConstructors } from "./pickle-builtins.ts";
import { numpyConstructors } from "./pickle-numpy.ts";
import { printableShape } from "./printable.ts";
import { unpickle } from "./unpickler.ts";

const magic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59); // "\x93NUMPY"
const allowed = new Map([...builtinConstructors, ...numpyConstructors]);

export function readNpy(path: string): NumpyArray {
  const fault = fileFault(path, "npy file");
  return parseNpy(readWholeFile(path, fault), fault);
}

/** `fileBytes`: the size on disk of what the bytes were read or inflated from. */
export function parseNpy(bytes: Uint8Array, fault: Fault, fileBytes = bytes.byteLength): NumpyArray {
  const cursor = new ByteCursor(bytes, fault);
  const { type, shape, fortran } = parseHeader(readHeader(cursor, fault), fault);
  if (type.kind === "object") return parseObjects(cursor, shape, fortran, fault, fileBytes);
  const size = arrayBytes(type, shape, fault);
  if (size !== cursor.remaining) {
    throw fault(
      `an array of shape ${printableShape(shape)} needs ${size} bytes, but ${cursor.remaining} follow the header`,
    );
  }
  return decodeArray({ type, shape, fortran, bytes: cursor.take(size) }, fault);
}

/** Writes numbers; version 1, aligned to 64 bytes as NumPy does. */
export function writeNpy(path: string, array: NumericArray): void {
  replaceFile(path, [encodeNpyHeader(array), bytesOfElements(array.data)]);
}

export function encodeNpyHeader({ dtype, shape }: NumericArray): Uint8Array {
  const code = numpyCodes.get(dtype);
  if (!code) throw new Error(`internal: NumPy has no ${dtype}; convert it before writing`);
  const order = code.endsWith("1") ? "|" : "<";
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const literal = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const length = Math.ceil((10 + literal.length + 1) / 64) * 64 - 10;
  const header = Buffer.from(`??????????${literal.padEnd(length - 1)}\n`, "latin1");
  header.set(magic);
  header.set([1, 0, length & 255, length >> 8], 6);
  return header;
}

function readHeader(cursor: ByteCursor, fault: Fault): string {
  if (cursor.remaining < 10) throw fault("it is too short to be one; it may be cut short");
  if (Buffer.compare(cursor.take(6), magic) !== 0) throw fault("it does not begin with NumPy's magic bytes");
  const version = cursor.uint8();
  cursor.uint8();
  if (version < 1 || version > 3) throw fault(`it has format version ${version}; 1 to 3 are known`);
  return cursor.text(version === 1 ? cursor.uint16() : cursor.uint32());
}

function parseHeader(header: string, fault: Fault): { type: NumpyType; shape: number[]; fortran: boolean } {
  if (header.length > 10_000) throw fault("its header is too long to be one of a plain array");
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(header)?.[1];
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(header)?.[1];
  const sizes = /'shape'\s*:\s*\(([\d\sL,-]*)\)/.exec(header)?.[1];
  if (/'descr'\s*:\s*\[/.test(header)) throw fault("it holds records; save one array per field instead");
  if (descr === undefined || order === undefined || sizes === undefined) {
    throw fault("its header does not give a type, an order and a shape");
  }
  const shape = sizes.split(",").map((size) => size.trim().replace(/L$/, ""));
  if (shape.at(-1) === "") shape.pop();
  if (shape.some((size) => !/^\d+$/.test(size))) throw fault(`its shape (${sizes}) is not a list of sizes`);
  return { type: parseNumpyType(descr, fault), shape: shape.map(Number), fortran: order === "True" };
}

function parseObjects(
  cursor: ByteCursor,
  shape: number[],
  fortran: boolean,
  fault: Fault,
  fileBytes: number,
): NumpyArray {
  const { value, end } = unpickle(cursor.bytes, { fault, allowed, start: cursor.position, fileBytes });
  if (end !== cursor.bytes.byteLength)
    throw fault(`${cursor.bytes.byteLength - end} bytes follow its pickle`);
  const array = value as NumpyArray | null;
  if (array?.dtype !== "object") throw fault("its pickle does not hold an array of objects");
  return objectArray(shape, fortran, [...array.data], fault);
}
