/**
 * safetensors: mapped reading and atomic writing of named tensors.
 *
 * Reading copies nothing: pages are loaded when a kernel first touches them, so opening a 15 GB checkpoint
 * takes milliseconds. Do not truncate a file while tensors over it live: the pages would be gone.
 */

import { UserError } from "#registry";
import { type DType, mapFile, scope, type Tensor } from "#tensor";
import { replaceFile } from "./atomic-write.ts";
import { mappedRun } from "./mapped-tensor.ts";
import { elementBytes } from "./numeric-array.ts";
import { readSafetensorsHeader, type SafetensorsHeader, type SafetensorsType } from "./safetensors-header.ts";
import type { TorchElementType } from "./torch-pickle.ts";

const elementTypes: Partial<Record<SafetensorsType, TorchElementType>> = {
  BOOL: "bool",
  U8: "uint8",
  I8: "int8",
  I16: "int16",
  I32: "int32",
  I64: "int64",
  F16: "float16",
  BF16: "bfloat16",
  F32: "float32",
  F64: "float64",
};
const typeNames = new Map(Object.entries(elementTypes).map(([name, dtype]) => [dtype as DType, name]));

/** All tensors by name, or those in `names`. */
export function readSafetensors(path: string, names?: Iterable<string>): Map<string, Tensor> {
  const header = readSafetensorsHeader(path);
  const wanted = [...(names ?? header.tensors.keys())];
  const runs = wanted.map((name) => [name, findRun(path, header, name)] as const);
  if (runs.length === 0) return new Map();
  const file = mapFile(path);
  try {
    return new Map(runs.map(([name, run]) => [name, mappedRun(file, run)]));
  } finally {
    file.close(); // the tensors keep the mapping alive
  }
}

function findRun(path: string, { tensors }: SafetensorsHeader, name: string) {
  const entry = tensors.get(name);
  if (!entry) throw new UserError(`${path} has no tensor "${name}"; it has ${tensors.size} others`);
  const dtype = elementTypes[entry.dtype];
  if (!dtype)
    throw new UserError(`${path}: tensor "${name}" is ${entry.dtype}, which is not supported; convert it`);
  return { byteOffset: entry.offset, dtype, shape: entry.shape };
}

/** Writes through a temporary file, so that a reader sees the old file or the new one and never a part. */
export function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Readonly<Record<string, string>> = {},
): void {
  // Wide types first, so that every tensor is aligned whatever precedes it; then by name, to be reproducible.
  const ordered = [...tensors].sort(
    ([a, x], [b, y]) => bytesPerElement(y) - bytesPerElement(x) || (a < b ? -1 : 1),
  );
  replaceFile(path, pieces(encodeHeader(ordered, metadata), ordered));
}

function* pieces(header: Uint8Array, ordered: readonly [string, Tensor][]): Generator<Uint8Array> {
  yield header;
  for (const [, tensor] of ordered) yield* tensorBytes(tensor);
}

/** One tensor is on the host at a time, however large the model on the device is. */
function* tensorBytes(tensor: Tensor): Generator<Uint8Array> {
  const host = scope(() => tensor.detach().cpu().contiguous());
  try {
    const view = host.hostView();
    yield new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  } finally {
    host.dispose();
  }
}

function encodeHeader(
  ordered: readonly [string, Tensor][],
  metadata: Readonly<Record<string, string>>,
): Uint8Array {
  const fields: [string, unknown][] = Object.keys(metadata).length > 0 ? [["__metadata__", metadata]] : [];
  let end = 0;
  for (const [name, tensor] of ordered) {
    if (name === "__metadata__") throw new Error('internal: no tensor may be called "__metadata__"');
    const begin = end;
    end += tensor.numel * bytesPerElement(tensor);
    fields.push([
      name,
      { dtype: typeNames.get(tensor.dtype), shape: tensor.shape, data_offsets: [begin, end] },
    ]);
  }
  const json = Buffer.from(JSON.stringify(Object.fromEntries(fields)));
  const length = Math.ceil(json.byteLength / 8) * 8;
  const header = Buffer.alloc(8 + length, " ");
  header.writeBigUInt64LE(BigInt(length));
  json.copy(header, 8);
  return header;
}

const bytesPerElement = (tensor: Tensor): number => elementBytes(tensor.dtype);
