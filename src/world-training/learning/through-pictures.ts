/** Recorded frames as a picture autoencoder shows them, one by one. */
import { Generator, noGrad, scope } from "#tensor";
import type { AutoencoderKL } from "#worlds";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { asImagined } from "../open-world.ts";
import { blurred } from "./blurred.ts";
import { readPictureAutoencoder } from "./picture-autoencoder.ts";
import type { SeenThrough, ThroughAutoencoder } from "./through-autoencoder.ts";

export async function throughPictureAutoencoder(
  world: string,
  frames: RecordedFrames,
): Promise<ThroughAutoencoder> {
  const { device } = frames;
  const rows = throughPictures(
    await readPictureAutoencoder(world, { device, ...asImagined(device) }),
    frames,
  );
  const unused = new Generator(0, device);
  const episode = ({ first, length }: { first: number; length: number }) =>
    rows(
      Array.from({ length }, (_, i) => first + 1 + i),
      0,
      unused,
    );
  return { rows, episode };
}

export function throughPictures(vae: AutoencoderKL, frames: RecordedFrames): SeenThrough {
  return (rows, noise, generator) =>
    noGrad(() =>
      scope(() => {
        const { dtype } = vae.quant_conv.weight;
        const latents = vae.encode(frames.pick(rowIndex(rows, frames)).to({ dtype })).float();
        const seen = vae.decode(blurred(latents, noise, generator).to({ dtype }));
        return seen.float().contiguous().clamp(-1, 1);
      }),
    );
}
