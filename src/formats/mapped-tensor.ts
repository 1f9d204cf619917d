/** Tensors over the bytes of a mapped file, strided as the file says. */
import { aten, type MappedFile, type Tensor, zeros } from "#tensor";
import { elementBytes } from "./numeric-array.ts";
import type { StoredTensor, TorchElementType } from "./torch-pickle.ts";

/** Where a contiguous tensor lies in the file. */
export interface MappedRun {
  readonly byteOffset: number;
  readonly dtype: TorchElementType;
  readonly shape: readonly number[];
}

export function mappedRun(file: MappedFile, { byteOffset, dtype, shape }: MappedRun): Tensor {
  const empty = shape.includes(0); // may lie at the very end of the file, where there is nothing to map
  return empty ? zeros(shape, { dtype }) : file.tensor(byteOffset, dtype, shape);
}

export function mappedTensor(file: MappedFile, stored: StoredTensor): Tensor {
  const { storage, dtype, shape, stride, offset } = stored;
  const size = elementBytes(dtype);
  if (isContiguous(shape, stride)) {
    return mappedRun(file, { byteOffset: storage.byteOffset + offset * size, dtype, shape });
  }
  const count = Math.floor(storage.byteLength / size);
  const whole = mappedRun(file, { byteOffset: storage.byteOffset, dtype, shape: [count] });
  return aten.as_strided(whole, shape, stride, offset);
}

function isContiguous(shape: readonly number[], stride: readonly number[]): boolean {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && stride[axis] !== expected) return false;
    expected *= shape[axis]!;
  }
  return true;
}
