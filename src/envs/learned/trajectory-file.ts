/**
 * Writes starts in the published form: `.npy` files that hold arrays of pickled frame records.
 *
 * Python readers of the reference open these with `numpy.load(path, allow_pickle=True)`, so the pickle is NumPy's own:
 * an object array of dicts whose values are arrays and text. Only what such a file needs is written; protocol 3.
 */
import { replaceFile } from "#formats";
import type { FrameRecord } from "./frame-record.ts";

type Value = string | Bytes | Floats;
interface Bytes {
  readonly kind: "u1";
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}
interface Floats {
  readonly kind: "f4";
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export function writeTrajectory(path: string, records: readonly FrameRecord[]): void {
  const header = npyHeader(records.length);
  const objects = [ascii("]("), ...records.flatMap(frame), ascii("e")];
  const pickle = [Uint8Array.of(0x80, 3), ...ndarray("O8", [records.length], objects), ascii(".")];
  replaceFile(path, [Buffer.concat([header, ...pickle])]);
}

function npyHeader(length: number): Uint8Array {
  const literal = `{'descr': '|O', 'fortran_order': False, 'shape': (${length},), }`;
  const size = Math.ceil((10 + literal.length + 1) / 64) * 64 - 10;
  const prefix = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, size & 255, size >> 8);
  return Buffer.concat([prefix, ascii(`${literal.padEnd(size - 1)}\n`)]);
}

function frame({ image, instruction, action, pose }: FrameRecord): Uint8Array[] {
  const floats = (data: readonly number[]): Floats => ({
    kind: "f4",
    shape: [data.length],
    data: Float32Array.from(data),
  });
  const entries: [string, Value][] = [["image", { kind: "u1", ...image }]];
  if (instruction !== undefined) entries.push(["instruction", instruction]);
  if (action) entries.push(["delta_action", floats(action)]);
  if (pose) entries.push(["init_ee_pose", floats(pose)]);
  return [ascii("}("), ...entries.flatMap(([key, value]) => [...text(key), ...encode(value)]), ascii("u")];
}

function encode(value: Value): Uint8Array[] {
  if (typeof value === "string") return text(value);
  const { buffer, byteOffset, byteLength } = value.data;
  const raw = new Uint8Array(buffer, byteOffset, byteLength);
  return ndarray(value.kind, value.shape, [ascii("B"), uint32(raw.length), raw]);
}

/** `_reconstruct(ndarray, (0,), b"b")`, then its state: version, shape, dtype, C order, contents. */
function ndarray(
  kind: "O8" | "u1" | "f4",
  shape: readonly number[],
  contents: readonly Uint8Array[],
): Uint8Array[] {
  return [
    ascii("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n"),
    ...integers([0]),
    ascii("C"),
    Uint8Array.of(1),
    ascii("b\x87R("),
    ...integer(1),
    ...integers(shape),
    ...dtype(kind),
    Uint8Array.of(0x89), // False
    ...contents,
    ascii("tb"),
  ];
}

function dtype(kind: "O8" | "u1" | "f4"): Uint8Array[] {
  const flags = kind === "O8" ? 63 : 0; // NumPy's mark of arrays that hold Python objects
  return [
    ascii("cnumpy\ndtype\n"),
    ...text(kind),
    Uint8Array.of(0x89, 0x88, 0x87), // (kind, False, True)
    ascii("R("),
    ...integer(3),
    ...text(kind === "f4" ? "<" : "|"),
    ascii("NNN"),
    ...[-1, -1, flags].flatMap(integer),
    ascii("tb"),
  ];
}

const ascii = (letters: string): Uint8Array => Buffer.from(letters, "latin1");

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function integer(value: number): Uint8Array[] {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return [ascii("J"), bytes];
}

const integers = (values: readonly number[]): Uint8Array[] => [
  ascii("("),
  ...values.flatMap(integer),
  ascii("t"),
];

function text(value: string): Uint8Array[] {
  const bytes = Buffer.from(value, "utf8");
  return [ascii("X"), uint32(bytes.length), bytes];
}
