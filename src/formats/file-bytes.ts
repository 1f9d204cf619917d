/**
 * Random access to a file's bytes, with every read checked against the file's real size.
 *
 * A lying header can ask for any range; what it cannot get is an allocation larger than the file.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { describeSystemError, type Fault } from "./file-fault.ts";

export interface FileBytes {
  readonly size: number;
  /** A copy of `length` bytes from `offset`; a fault when they are not all inside the file. */
  read(offset: number, length: number): Uint8Array;
}

/** Opens the file for the time of `use` only. */
export function withFileBytes<T>(path: string, fault: Fault, use: (file: FileBytes) => T): T {
  const descriptor = openOrFault(path, fault);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw fault("it is not a plain file; give the path of a file");
    const { size } = stats;
    return use({ size, read: (offset, length) => readRange(descriptor, size, offset, length, fault) });
  } finally {
    closeSync(descriptor);
  }
}

export const readWholeFile = (path: string, fault: Fault): Uint8Array =>
  withFileBytes(path, fault, (file) => file.read(0, file.size));

/** The same access over bytes that are in memory already. */
export const memoryBytes = (bytes: Uint8Array, fault: Fault): FileBytes => ({
  size: bytes.byteLength,
  read(offset, length) {
    checkRange(bytes.byteLength, offset, length, fault);
    return bytes.subarray(offset, offset + length);
  },
});

function openOrFault(path: string, fault: Fault): number {
  try {
    // Not blocking: a pipe without a writer would keep us waiting for ever instead of being refused.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw fault(describeSystemError(error));
  }
}

function checkRange(size: number, offset: number, length: number, fault: Fault): void {
  const sound = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!sound || offset + length > size) {
    throw fault(
      `it asks for ${length} bytes at offset ${offset}, but has ${size} bytes; it may be cut short`,
    );
  }
}

function readRange(descriptor: number, size: number, offset: number, length: number, fault: Fault) {
  checkRange(size, offset, length, fault);
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    // One read moves at most 2 GiB on Linux.
    const count = readSync(descriptor, bytes, done, Math.min(length - done, 2 ** 30), offset + done);
    if (count === 0) throw fault("it shrank while being read");
    done += count;
  }
  return bytes;
}
