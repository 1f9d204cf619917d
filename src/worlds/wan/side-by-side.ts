/**
 * A causal convolution over time as a convolution over pictures, for bfloat16 on a GPU, with gradients and without.
 *
 * The frames that an output frame sees are put side by side as channels; the kernel over time becomes more input channels of
 * a two-dimensional convolution, for which cuDNN has its best kernels, and a kernel of one pixel becomes a linear map. Frames
 * that are zeros by definition are left out. The same sums as the convolution over three axes, in another order.
 *
 * Shapes: B videos, C channels, T frames, H W positions, O outputs, K frames seen, h w kernel sizes.
 */

import { fusedFrameTaps } from "#kernels";
import { asLast, fromLast } from "#nn";
import { aten, cat, fusable, kernelFit, type Tensor } from "#tensor";

export interface Geometry {
  /** Frames before the first that the first output frame sees. */
  readonly look: number;
  /** Zero pixels around each picture. */
  readonly border: number;
  /** Over time. */
  readonly stride: number;
}

/** The weight, [O, C, K, h, w], ordered in memory as [O, h, w, K, C]: so it is also a weight over pictures. */
export const sideBySideOrder = (weight_OCKhw: Tensor): Tensor =>
  weight_OCKhw.permute([0, 3, 4, 2, 1]).contiguous().permute([0, 4, 3, 1, 2]);

/** x: [B, C, T, H, W], best with channels last in memory; `past` stands before it. Null where the plain way must be gone. */
export function convolveSideBySide(
  x_BCTHW: Tensor,
  past: Tensor | undefined,
  weight_OCKhw: Tensor,
  bias_O: Tensor,
  geometry: Geometry,
): Tensor | null {
  const fit = kernelFit(bias_O);
  if (fit === "no") return null;
  const x_BTHWC = asLast(x_BCTHW).contiguous();
  // Weights that learn keep the order of their file; turning them is little beside what their gradients cost.
  if (fit === "free" && !fusable(x_BTHWC, weight_OCKhw.permute([0, 3, 4, 2, 1]))) return null;
  return sideBySide(x_BTHWC, past, weight_OCKhw, bias_O, geometry);
}

export function sideBySide(
  x_BTHWC: Tensor,
  past: Tensor | undefined,
  weight_OCKhw: Tensor,
  bias_O: Tensor,
  { look, border, stride }: Geometry,
): Tensor {
  const weight_OhwKC = weight_OCKhw.permute([0, 3, 4, 2, 1]);
  const seen = weight_OCKhw.shape[2]!;
  const joined = past && look > 0 ? cat([asLast(past), x_BTHWC], 1) : x_BTHWC;
  const missing = look > 0 ? look - (past?.shape[2] ?? 0) : 0;
  const alone = joined.shape[1] === 1 && missing === seen - 1;
  const frames = alone ? joined : neighbors(joined, missing, seen, stride);
  const weight = alone ? weight_OhwKC.narrow(3, seen - 1, 1) : weight_OhwKC;
  return fromLast(overPictures(frames, weight, bias_O, border));
}

/** [B, T, H, W, C] to [B, T', H, W, K·C], after `missing` frames of zeros. */
function neighbors(x_BTHWC: Tensor, missing: number, seen: number, stride: number): Tensor {
  if (seen === 1) return x_BTHWC;
  const fused =
    stride === 1 && seen === 3 && fusedFrameTaps(x_BTHWC.flatten(2, 3), { missing, standIn: "zeros" });
  if (fused) return fused.unflatten(2, x_BTHWC.shape.slice(2, 4));
  const whole = missing > 0 ? aten.constant_pad_nd(x_BTHWC, [0, 0, 0, 0, 0, 0, missing, 0], 0) : x_BTHWC;
  const length = Math.floor((whole.shape[1]! - seen) / stride) + 1;
  const from = (first: number): Tensor => whole.slice(1, first, first + (length - 1) * stride + 1, stride);
  return cat(
    Array.from({ length: seen }, (_, first) => from(first)),
    4,
  );
}

export function overPictures(x_BTHWC: Tensor, weight_OhwKC: Tensor, bias_O: Tensor, border: number): Tensor {
  const [outputs = 0, high = 0, wide = 0] = weight_OhwKC.shape;
  if (high === 1 && wide === 1) return aten.linear(x_BTHWC, weight_OhwKC.reshape([outputs, -1]), bias_O);
  const [batch = 0, frames = 0] = x_BTHWC.shape;
  const pictures = fromLast(x_BTHWC.flatten(0, 1));
  const kernel = fromLast(weight_OhwKC.flatten(3));
  const out = aten.conv2d(pictures, kernel, bias_O, [1, 1], [border, border]);
  return asLast(out).unflatten(0, [batch, frames]);
}
