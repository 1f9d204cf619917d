/**
 * Many weights as one flat row that ranks hold in equal parts: rank r has the r-th.
 *
 * Every weight begins at a multiple of 64 numbers, because kernels read in wide, aligned words; what is between, and the rest at the end,
 * is zero.
 */
import { type Device, type DType, type Tensor, zeros } from "#tensor";

const alignment = 64; // numbers

export interface FlatLayout {
  readonly shapes: readonly (readonly number[])[];
  /** Where each weight begins. */
  readonly offsets: readonly number[];
  /** Of one rank's part. */
  readonly length: number;
  /** Of the whole row: as many parts as there are ranks. */
  readonly total: number;
}

export function layOutFlat(weights: readonly Tensor[], ranks: number): FlatLayout {
  const offsets: number[] = [];
  let end = 0;
  for (const { numel } of weights) {
    offsets.push(end);
    end += Math.ceil(numel / alignment) * alignment;
  }
  const length = Math.ceil(end / ranks);
  return { shapes: weights.map(({ shape }) => shape), offsets, length, total: length * ranks };
}

/** The row of these tensors; an absent one is zero. */
export function flatten(
  layout: FlatLayout,
  tensors: readonly (Tensor | null | undefined)[],
  { dtype, device }: { readonly dtype: DType; readonly device: Device },
): Tensor {
  const row = zeros([layout.total], { dtype, device });
  for (const [i, tensor] of tensors.entries())
    if (tensor) row.narrow(0, layout.offsets[i]!, tensor.numel).copy_(tensor.detach().reshape([-1]));
  return row;
}

/** The weights inside a row, in their shapes: views. */
export function unflatten({ shapes, offsets }: FlatLayout, row: Tensor): Tensor[] {
  return shapes.map((shape, i) => {
    const numel = shape.reduce((product, size) => product * size, 1);
    return row.narrow(0, offsets[i]!, numel).view(shape);
  });
}

/** One rank's part of a row: a view. */
export const partOf = ({ length }: FlatLayout, row: Tensor, rank: number): Tensor =>
  row.narrow(0, rank * length, length);
