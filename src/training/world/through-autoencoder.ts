/**
 * Shows recorded frames as a world would: encoded, a little noised, decoded. What a judge will see at run time.
 *
 * Shapes: N frames, H W pixels in [-1, 1].
 */
import { join } from "node:path";
import {
  type Device,
  type DType,
  type Generator,
  noGrad,
  rand,
  randn,
  scope,
  type Tensor,
  tensor,
} from "#tensor";
import { type AutoencoderKL, loadWanAutoencoder, readWanSizes } from "#worlds";
import { familyOf } from "./open-world.ts";
import { readPictureAutoencoder } from "./picture-autoencoder.ts";
import type { RecordedFrames } from "./recorded-frames.ts";

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
        const latents = vae.encode(frames.pick(index(rows, frames)).to({ dtype })).float();
        const seen = vae.decode(blurred(latents, noise, generator).to({ dtype }));
        return seen.float().contiguous().clamp(-1, 1);
      }),
    );
}

/** A video autoencoder shows the last of five frames: one alone, then four together. */
function throughVideo(world: string, frames: RecordedFrames): SeenThrough {
  const sizes = readWanSizes(join(world, "model-00001.safetensors"));
  const { device } = frames;
  const { dtype = "float32" } = asImagined(device);
  const vae = loadWanAutoencoder(join(world, "Wan2.2_VAE.pth"), sizes, { device, dtype });
  const firstOf = new Int32Array(frames.count);
  for (const { first, length } of frames.episodes) firstOf.fill(first, first, first + length + 1);
  return (rows, noise, generator) =>
    noGrad(() =>
      scope(() => {
        const all = rows.flatMap((row) => [0, 1, 2, 3, 4].map((i) => Math.max(firstOf[row]!, row - 4 + i)));
        const video = frames.pick(index(all, frames)).unflatten(0, [rows.length, 5]).transpose(1, 2);
        const latents = blurred(vae.encode(video.to({ dtype })).float(), noise, generator);
        return vae.decode(latents.to({ dtype })).select(2, 4).float().contiguous();
      }),
    );
}

function blurred(latents: Tensor, noise: number, generator: Generator): Tensor {
  const place = { generator, device: latents.device };
  const each = rand([latents.shape[0]!, ...Array<number>(latents.ndim - 1).fill(1)], place).mul(noise);
  return latents.add(randn([...latents.shape], place).mul(each));
}

const index = (rows: readonly number[], { device }: RecordedFrames): Tensor =>
  tensor(BigInt64Array.from(rows, BigInt), { device });
