/**
 * Shows recorded frames as a world would: encoded, a little noised, decoded. What a judge will see at run time.
 *
 * Shapes: N frames, H W pixels in [-1, 1].
 */
import { join } from "node:path";
import { cat, type Device, type DType, Generator, noGrad, rand, randn, scope, type Tensor } from "#tensor";
import { type AutoencoderKL, loadWanAutoencoder, readWanSizes, type WanVAE } from "#worlds";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { readPictureAutoencoder } from "../learning/picture-autoencoder.ts";
import { familyOf } from "../open-world.ts";
import { lastPictures, newPictures } from "../wan/windows.ts";

/** The frames of these rows, [N, 3, H, W]; `noise` is the largest standard deviation on their latents. */
export type SeenThrough = (rows: readonly number[], noise: number, generator: Generator) => Tensor;

export function throughAutoencoder(world: string, frames: RecordedFrames): SeenThrough {
  if (familyOf(world) === "wan") return throughVideo(world, frames);
  const { device } = frames;
  return throughPictures(readPictureAutoencoder(world, { device, ...asImagined(device) }), frames);
}

/** On a GPU worlds imagine in bfloat16, and it is several times faster. */
export const asImagined = (device: Device): { dtype?: DType } =>
  device === "cpu" ? {} : { dtype: "bfloat16" };

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

/** All frames of an episode after its first, as a perfect denoiser's world would show them, [T, 3, H, W]. */
export type EpisodeThrough = (episode: { readonly first: number; readonly length: number }) => Tensor;

export function episodeThroughAutoencoder(world: string, frames: RecordedFrames): EpisodeThrough {
  if (familyOf(world) === "wan") return episodeThroughVideo(world, frames);
  const [seen, unused] = [throughAutoencoder(world, frames), new Generator(0, frames.device)];
  return ({ first, length }) =>
    seen(
      Array.from({ length }, (_, i) => first + 1 + i),
      0,
      unused,
    );
}

/** Chunk by chunk, each remembering what was shown before, not the ground truth. Beyond the end the last frame stays. */
function episodeThroughVideo(world: string, frames: RecordedFrames): EpisodeThrough {
  const { vae, dtype } = videoAutoencoder(world, frames);
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
function throughVideo(world: string, frames: RecordedFrames): SeenThrough {
  const { vae, dtype } = videoAutoencoder(world, frames);
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

function videoAutoencoder(world: string, { device }: RecordedFrames): { vae: WanVAE; dtype: DType } {
  const sizes = readWanSizes(join(world, "model-00001.safetensors"));
  const { dtype = "float32" } = asImagined(device);
  return { vae: loadWanAutoencoder(join(world, "Wan2.2_VAE.pth"), sizes, { device, dtype }), dtype };
}

function blurred(latents: Tensor, noise: number, generator: Generator): Tensor {
  const place = { generator, device: latents.device };
  const each = rand([latents.shape[0]!, ...Array<number>(latents.ndim - 1).fill(1)], place).mul(noise);
  return latents.add(randn([...latents.shape], place).mul(each));
}
