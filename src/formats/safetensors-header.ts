/**
 * The header of a safetensors file: which tensors it has, and where. Needs no libtorch.
 *
 * https://huggingface.co/docs/safetensors: an 8-byte length, that many bytes of JSON, then the data. As the
 * reference reader does, the data must be covered exactly: no hole, no overlap, nothing beyond the end.
 */

import { ByteCursor } from "./byte-cursor.ts";
import { type FileBytes, withFileBytes } from "./file-bytes.ts";
import { type Fault, fileFault } from "./file-fault.ts";
import { countElements } from "./numeric-array.ts";
import { printable, printableShape } from "./printable.ts";

/** Bytes per element, for every type that the format names. */
const typeBytes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E5M2: 1,
  F8_E4M3: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
} as const;

export type SafetensorsType = keyof typeof typeBytes;

export interface SafetensorsEntry {
  readonly dtype: SafetensorsType;
  readonly shape: readonly number[];
  /** From the beginning of the file, in bytes. */
  readonly offset: number;
  readonly byteLength: number;
}

export interface SafetensorsHeader {
  readonly tensors: ReadonlyMap<string, SafetensorsEntry>;
  readonly metadata: ReadonlyMap<string, string>;
}

const longestHeader = 100_000_000; // the reference's own limit

export function readSafetensorsHeader(path: string): SafetensorsHeader {
  const fault = fileFault(path, "safetensors file");
  return withFileBytes(path, fault, (file) => parseHeader(file, fault));
}

function parseHeader(file: FileBytes, fault: Fault): SafetensorsHeader {
  if (file.size < 8) throw fault(`it has only ${file.size} bytes; it may be cut short`);
  const length = new ByteCursor(file.read(0, 8), fault).length64();
  if (length > file.size - 8 || length > longestHeader) {
    throw fault(
      `its header claims ${length} bytes of the file's ${file.size}; it may be cut short, or of another format`,
    );
  }
  const fields = parseJsonObject(file.read(8, length), fault);
  const metadata = parseMetadata(fields.__metadata__, fault);
  const tensors = new Map<string, SafetensorsEntry>();
  for (const [name, entry] of Object.entries(fields)) {
    if (name !== "__metadata__") tensors.set(name, parseEntry(name, entry, 8 + length, fault));
  }
  checkCoverage(tensors, 8 + length, file.size, fault);
  return { tensors, metadata };
}

function parseJsonObject(bytes: Uint8Array, fault: Fault): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw fault("its header is not JSON");
  }
  if (!isObject(value)) throw fault("its header is not a JSON object");
  return value;
}

function parseMetadata(value: unknown, fault: Fault): Map<string, string> {
  if (value === undefined) return new Map();
  const entries = isObject(value) ? Object.entries(value) : [];
  if (!isObject(value) || entries.some(([, text]) => typeof text !== "string")) {
    throw fault("its metadata is not a table of texts");
  }
  return new Map(entries as [string, string][]);
}

function parseEntry(name: string, entry: unknown, dataStart: number, fault: Fault): SafetensorsEntry {
  const inside: Fault = (reason) => fault(`tensor ${printable(name)}: ${reason}`);
  if (!isObject(entry)) throw inside("its entry is not an object");
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !Object.hasOwn(typeBytes, dtype))
    throw inside(`unknown type ${printable(dtype)}`);
  if (!Array.isArray(shape)) throw inside("it has no shape");
  const [begin, end] = Array.isArray(offsets) && offsets.length === 2 ? (offsets as unknown[]) : [];
  if (!isOffset(begin) || !isOffset(end) || end < begin)
    throw inside("its data_offsets are not two offsets in order");
  const known = dtype as SafetensorsType;
  const expected = countElements(shape, inside) * typeBytes[known];
  if (end - begin !== expected) {
    throw inside(
      `shape ${printableShape(shape)} of ${known} needs ${expected} bytes, but ${end - begin} are given`,
    );
  }
  return { dtype: known, shape: shape as number[], offset: dataStart + begin, byteLength: expected };
}

function checkCoverage(
  tensors: Map<string, SafetensorsEntry>,
  start: number,
  size: number,
  fault: Fault,
): void {
  const ordered = [...tensors].sort(([, a], [, b]) => a.offset - b.offset || a.byteLength - b.byteLength);
  let expected = start;
  for (const [name, { offset, byteLength }] of ordered) {
    if (offset !== expected) {
      throw fault(
        `tensor ${printable(name)} begins at byte ${offset}, but the one before ends at ${expected}`,
      );
    }
    expected += byteLength;
  }
  if (expected !== size)
    throw fault(`its tensors end at byte ${expected}, but the file has ${size}; it may be cut short`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
