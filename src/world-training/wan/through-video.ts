/** Recorded frames as a Wan world's video autoencoder shows them: with the frames before them. */
import { join } from "node:path";
import { cat, type DType, noGrad, scope, type Tensor } from "#tensor";
import { wanParts } from "#worlds";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { blurred } from "../learning/blurred.ts";
import type { EpisodeThrough, SeenThrough, ThroughAutoencoder } from "../learning/through-autoencoder.ts";
import { asImagined } from "../open-world.ts";
import { wanFiles } from "./files.ts";
import { lastPictures, newPictures } from "./windows.ts";

interface Opened {
  readonly vae: wanParts.WanVAE;
  readonly dtype: DType;
}

export function throughVideoAutoencoder(world: string, frames: RecordedFrames): ThroughAutoencoder {
  const { device } = frames;
  const sizes = wanParts.readWanSizes(join(world, wanFiles.denoiser));
  const { dtype = "float32" } = asImagined(device);
  const vae = wanParts.loadAutoencoder(join(world, wanFiles.autoencoder), sizes, { device, dtype });
  return { rows: throughVideo({ vae, dtype }, frames), episode: episodeThroughVideo({ vae, dtype }, frames) };
}

/** Chunk by chunk, each remembering what was shown before, not the ground truth. Beyond the end the last frame stays. */
function episodeThroughVideo({ vae, dtype }: Opened, frames: RecordedFrames): EpisodeThrough {
  const pick = (rows: readonly number[]): Tensor => frames.pick(rowIndex(rows, frames));
  return ({ first, length }) =>
    noGrad(() =>
      scope(() => {
        const start = pick([first]);
        let shown = start.expand([lastPictures, -1, -1, -1]);
        for (let elapsed = 0; elapsed < length; elapsed += newPictures) {
          const remembered = shown.narrow(0, shown.shape[0]! - lastPictures, lastPictures);
          const next = Array.from(
            { length: newPictures },
            (_, i) => first + Math.min(elapsed + 1 + i, length),
          );
          const window = cat([start, remembered, pick(next)], 0)
            .transpose(0, 1)
            .unsqueeze(0); // [1, 3, T, H, W]
          const seen = vae
            .decode(vae.encode(window.to({ dtype })))
            .squeeze(0)
            .transpose(0, 1)
            .float();
          shown = cat([shown, seen.narrow(0, 1 + lastPictures, newPictures)], 0);
        }
        return shown.narrow(0, lastPictures, length).contiguous();
      }),
    );
}

/** A video autoencoder shows the last of five frames: one alone, then four together. */
function throughVideo({ vae, dtype }: Opened, frames: RecordedFrames): SeenThrough {
  const firstOf = new Int32Array(frames.count);
  for (const { first, length } of frames.episodes) firstOf.fill(first, first, first + length + 1);
  return (rows, noise, generator) =>
    noGrad(() =>
      scope(() => {
        const all = rows.flatMap((row) => [0, 1, 2, 3, 4].map((i) => Math.max(firstOf[row]!, row - 4 + i)));
        const video = frames.pick(rowIndex(all, frames)).unflatten(0, [rows.length, 5]).transpose(1, 2);
        const latents = blurred(vae.encode(video.to({ dtype })).float(), noise, generator);
        return vae.decode(latents.to({ dtype })).select(2, 4).float().contiguous();
      }),
    );
}
