/** Trains an OpenSora world's picture autoencoder on recorded frames and writes it as the world's `vae/` folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeJsonFile, writeSafetensors } from "#formats";
import { noGrad, scope } from "#tensor";
import { AutoencoderKL, autoencoderLoss, measureScale } from "#worlds";
import { initialise } from "./initialise.ts";
import type { RecordedFrames } from "./recorded-frames.ts";
import { type LoopHooks, trainingLoop } from "./training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "./weight-training.ts";

export const autoencoderSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(3000),
  batch_size: z.int().positive().default(128),
  lr: z.number().positive().default(1e-3),
  block_out_channels: z
    .array(z.int().positive())
    .min(2)
    .default([16, 32, 64])
    .describe("each level halves the picture"),
  layers_per_block: z.int().positive().default(1),
  norm_num_groups: z.int().positive().default(8),
  squared_weight: z.number().min(0).default(2),
  kl_weight: z.number().min(0).default(1e-4),
});
export type AutoencoderSettings = z.infer<typeof autoencoderSettings>;

const scaleSample = 512;

export async function trainAutoencoder(
  frames: RecordedFrames,
  settings: AutoencoderSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { block_out_channels, layers_per_block, norm_num_groups, squared_weight, kl_weight, ...rest } =
    settings;
  const sizes = {
    block_out_channels,
    layers_per_block,
    norm_num_groups,
    latent_channels: 4,
    in_channels: 3,
    out_channels: 3,
    scaling_factor: 1,
  };
  const vae = new AutoencoderKL(sizes, { device: frames.device });
  initialise(vae, settings.seed);
  const training = new WeightTraining(vae, rest);
  await trainingLoop(
    training,
    frames.device,
    ({ host, device }) =>
      autoencoderLoss(
        vae,
        frames.pick(frames.draw(settings.batch_size, host)),
        { squared_weight, kl_weight },
        device,
      ),
    hooks,
  );
  await training.withAverages(async () => writeAutoencoder(world, vae, sizes, frames));
  training.dispose();
}

function writeAutoencoder(world: string, vae: AutoencoderKL, sizes: object, frames: RecordedFrames): void {
  const folder = join(world, "vae");
  mkdirSync(folder, { recursive: true });
  const spread = Math.max(1, Math.floor(frames.count / scaleSample));
  const scaling_factor = noGrad(() =>
    scope(() =>
      measureScale(vae, frames.pick(frames.every(spread).narrow(0, 0, Math.min(scaleSample, frames.count)))),
    ),
  );
  writeSafetensors(join(folder, "diffusion_pytorch_model.safetensors"), vae.state());
  writeJsonFile(join(folder, "config.json"), { _class_name: "AutoencoderKL", ...sizes, scaling_factor });
}
