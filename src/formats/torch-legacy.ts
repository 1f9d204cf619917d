/**
 * What `torch.save` wrote before version 1.6, and still writes when asked to: five pickles, then storages.
 *
 * The pickles are a magic number, a protocol number, facts about the machine, the value, and the keys of
 * the storages; each storage follows as a 64-bit element count and its bytes.
 */
import { ByteCursor } from "./byte-cursor.ts";
import type { FileBytes } from "./file-bytes.ts";
import type { Fault } from "./file-fault.ts";
import { elementBytes } from "./numeric-array.ts";
import type { AllowList } from "./pickle-value.ts";
import { printable } from "./printable.ts";
import { parseStorageId, type TorchStorage } from "./torch-pickle.ts";
import { unpickle } from "./unpickler.ts";

/** The opening of a protocol 2 pickle of 0x1950a86a20f9469cfc6c. */
const opening = Uint8Array.of(
  0x80,
  0x02,
  0x8a,
  0x0a,
  0x6c,
  0xfc,
  0x9c,
  0x46,
  0xf9,
  0x20,
  0x6a,
  0xa8,
  0x50,
  0x19,
  0x2e,
);

export const isLegacyTorch = (file: FileBytes): boolean =>
  file.size > opening.length && Buffer.compare(file.read(0, opening.length), opening) === 0;

export function readLegacyTorch(file: FileBytes, allowed: AllowList, fault: Fault): unknown {
  const bytes = file.read(0, file.size);
  const storages = new Map<string, TorchStorage>();
  const persistent = (id: unknown): TorchStorage => {
    const { key, dtype, count } = parseStorageId(id, fault);
    const storage = storages.get(key) ?? {
      key,
      dtype,
      byteOffset: -1,
      byteLength: count * elementBytes(dtype),
    };
    storages.set(key, storage);
    return storage;
  };
  let start = opening.length;
  const next = (): unknown => {
    const { value, end } = unpickle(bytes, { fault, allowed, persistent, start });
    start = end;
    return value;
  };
  if (next() !== 1001) throw fault("it has an unknown version of PyTorch's old layout");
  next(); // byte order and word sizes of the machine that wrote it
  const value = next();
  const keys = next();
  if (!Array.isArray(keys)) throw fault("its list of storages is missing");
  placeStorages(new ByteCursor(bytes, fault, start), keys, storages, fault);
  return value;
}

function placeStorages(
  cursor: ByteCursor,
  keys: unknown[],
  storages: Map<string, TorchStorage>,
  fault: Fault,
): void {
  for (const key of keys) {
    const storage = typeof key === "string" ? storages.get(key) : undefined;
    if (!storage) throw fault(`its storage ${printable(key)} belongs to no tensor`);
    const count = cursor.length64();
    if (count * elementBytes(storage.dtype) !== storage.byteLength) {
      throw fault(`its storage "${storage.key}" has another size than declared`);
    }
    storage.byteOffset = cursor.position;
    cursor.take(storage.byteLength);
  }
  for (const { key, byteOffset } of storages.values()) {
    if (byteOffset < 0) throw fault(`the bytes of its storage "${key}" are missing`);
  }
}
