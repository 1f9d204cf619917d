/**
 * Between bytes and the [-1, 1] of video models, with the reference's roundings.
 *
 * Bytes are always truncated, never rounded: a policy trained on the reference's frames sees the same ones.
 */
import { aten, type Tensor } from "#tensor";

/** uint8 to float32 in [-1, 1]: x / 255, then (x - 0.5) / 0.5, in this order of roundings. */
export function fromBytes(image: Tensor): Tensor {
  return image.float().div(255).sub(0.5).div(0.5);
}

/** Float in about [-1, 1] to uint8: ((x + 1) / 2) · 255, clamped, truncated. */
export function toBytes(image: Tensor): Tensor {
  return image.float().add(1).div(2).mul(255).clamp(0, 255).to({ dtype: "uint8" });
}

/** Bilinear (no corner alignment) to [height, width] where the size differs. Images: [N, 3, h, w]. */
export function resizeFrames(images: Tensor, [height, width]: readonly [number, number]): Tensor {
  const same = images.shape.at(-2) === height && images.shape.at(-1) === width;
  return same ? images : aten.upsample_bilinear2d(images, [height, width], false);
}
