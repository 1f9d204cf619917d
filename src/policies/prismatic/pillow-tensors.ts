/**
 * Pillow's resize for many pictures at once, on any device, to the bit: the same fixed-point weights and the same two
 * roundings as in pillow-resize.ts, as sums of whole lines in 32-bit integers, which is how Pillow counts too.
 */
import { aten, type Device, keep, type Tensor, tensor } from "#tensor";
import { type Filter, filterTable, fixedBits } from "./pillow-resize.ts";

interface Lines {
  readonly index: Tensor; // int64 [outputs]
  readonly weight: Tensor; // int32 [outputs]
}

const known = new Map<string, readonly Lines[]>();

/** Kept per device: a run asks for the same two sizes millions of times. */
function linesFor(inSize: number, outSize: number, filter: Filter, device: Device): readonly Lines[] {
  const key = `${filter} ${inSize} ${outSize} ${device}`;
  const found = known.get(key);
  if (found) return found;
  const { width, lines, weights } = filterTable(inSize, outSize, filter);
  const made = Array.from({ length: width }, (_, k) => {
    const part = (values: Int32Array) => tensor(values.slice(k * outSize, (k + 1) * outSize), { device });
    return { index: keep(part(lines).long()), weight: keep(part(weights)) };
  });
  known.set(key, made);
  return made;
}

/** uint8 [X, H, W, C] to uint8 [X, outHeight, outWidth, C], width first as Pillow does it. */
export function pillowResizeAll(
  images_XHWC: Tensor,
  [outHeight, outWidth]: readonly [number, number],
  filter: Filter,
): Tensor {
  const narrow = resizeAlong(images_XHWC, 2, outWidth, filter);
  return resizeAlong(narrow, 1, outHeight, filter);
}

function resizeAlong(images: Tensor, dim: 1 | 2, outSize: number, filter: Filter): Tensor {
  const inSize = images.size(dim);
  if (inSize === outSize) return images;
  const shape = [1, 1, 1, 1].map((one, i) => (i === dim ? outSize : one));
  const sums = linesFor(inSize, outSize, filter, images.device)
    .map(({ index, weight }) => images.indexSelect(dim, index).int().mul(weight.view(shape)))
    .reduce((sum, part) => sum.add_(part));
  const half = 2 ** (fixedBits - 1);
  return aten.bitwise_right_shift(sums.add_(half), fixedBits).clamp_(0, 255).byte();
}
