/**
 * A file mapped into memory, and tensors over its bytes without a copy.
 *
 * The mapping is private: writing to such a tensor never changes the file. Tensors keep the mapping alive after
 * `close()`.
 */
import { addon } from "./addon.ts";
import { type DType, dtypeCode } from "./dtype.ts";
import { Tensor } from "./tensor.ts";

export interface MappedFile {
  readonly byteLength: number;
  /** A copy of some bytes. */
  bytes(offset: number, length: number): Uint8Array;
  /** A tensor over the file's own bytes; copied only where the offset is not aligned to the element size. */
  tensor(byteOffset: number, dtype: DType, shape: readonly number[]): Tensor;
  close(): void;
}

export function mapFile(path: string): MappedFile {
  const [id, byteLength] = addon.mapOpen(path);
  return {
    byteLength,
    bytes: (offset, length) => new Uint8Array(addon.mapBytes(id, offset, length)),
    tensor: (offset, dtype, shape) => new Tensor(addon.mapTensor(id, offset, dtypeCode(dtype), shape)),
    close: () => addon.mapClose(id),
  };
}

/**
 * Hands a tensor to another thread of this process without copying: `giveTensor` makes a ticket, a number that
 * travels by postMessage, and `takeTensor` redeems it once.
 */
export const giveTensor = (tensor: Tensor): number => addon.shareGive(tensor.handle);
export const takeTensor = (ticket: number): Tensor => new Tensor(addon.shareTake(ticket));
