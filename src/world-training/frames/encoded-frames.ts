/**
 * Recorded frames as latents of a picture autoencoder, encoded once before training, and how colorful each place is.
 *
 * Shapes: F frames, z latent channels, h w latent positions.
 */
import { aten, cat, keep, noGrad, scope, type Tensor } from "#tensor";
import type { AutoencoderKL } from "#worlds";
import type { RecordedFrames } from "./recorded-frames.ts";

export interface EncodedFrames {
  readonly latents: Tensor; // means of the posteriors, scaled, [F, z, h, w]
  readonly color: Tensor; // how colorful each place is, uint8 [F, h, w]
}

export function encodeAll(vae: AutoencoderKL, frames: RecordedFrames, batch = 512): EncodedFrames {
  const parts: { latents: Tensor; color: Tensor }[] = [];
  noGrad(() => {
    for (let from = 0; from < frames.count; from += batch) {
      const part = scope(() => {
        const rows = frames.every(1).narrow(0, from, Math.min(batch, frames.count - from));
        const pictures = frames.pick(rows);
        return { latents: vae.encode(pictures), color: colorOf(pictures, vae.downscale) };
      });
      parts.push({ latents: keep(part.latents), color: keep(part.color) });
    }
  });
  const all = {
    latents: keep(cat(parts.map(({ latents }) => latents))),
    color: keep(cat(parts.map(({ color }) => color))),
  };
  for (const part of parts) for (const each of Object.values(part)) each.dispose();
  return all;
}

/** Where channels differ much, as things to handle do and table and arm do not; averaged over each latent's place. */
function colorOf(pictures_NCHW: Tensor, downscale: number): Tensor {
  const spread = pictures_NCHW.amax([1]).sub(pictures_NCHW.amin([1]));
  const strong = spread.gt(0.5).float().unsqueeze(1);
  return aten.avg_pool2d(strong, [downscale, downscale]).squeeze(1).mul(255).to({ dtype: "uint8" });
}

/** Rows by index, whatever the index's shape: [...index, ...row]. */
export const pickRows = (table: Tensor, index: Tensor): Tensor =>
  table.indexSelect(0, index.flatten()).unflatten(0, [...index.shape]);
