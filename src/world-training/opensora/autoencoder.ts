/** Trains an OpenSora world's picture autoencoder on recorded frames and writes it as the world's `vae/` folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeJsonFile, writeSafetensors } from "#formats";
import { type DType, randn, scope } from "#tensor";
import {
  AutoencoderKL,
  type AutoencoderKLSizes,
  type AutoencoderLesson,
  autoencoderLoss,
  standardizeLatents,
} from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import {
  newPictureAutoencoder,
  pictureAutoencoderSettings,
  readBeginning,
} from "../learning/picture-autoencoder.ts";
import { stored } from "../learning/stored-weights.ts";
import { type Course, type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";

export const openSoraAutoencoderSettings = pictureAutoencoderSettings.extend({
  block_out_channels: z
    .array(z.int().positive())
    .min(2)
    .default([16, 32, 64])
    .describe("each level but the first halves the picture"),
  latent_channels: z
    .int()
    .positive()
    .default(4)
    .describe("more keep more detail; published worlds have 4, eight times smaller"),
  layers_per_block: z.int().positive().default(1),
});
export type AutoencoderSettings = z.infer<typeof openSoraAutoencoderSettings>;

/** Frames that the spread of latents is measured on. */
const scaleSample = 1024;

export async function trainOpenSoraAutoencoder(
  frames: RecordedFrames,
  settings: AutoencoderSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { vae, sizes, training, teacher } = openSoraAutoencoderCourse(
    frames,
    settings,
    await readBeginning(settings, frames.device),
  );
  await trainingLoop(training, frames.device, teacher, hooks);
  await training.withAverages(async () => writeAutoencoder(world, vae, sizes, frames, settings.store));
  training.dispose();
}

export interface AutoencoderCourse extends Course<AutoencoderLesson> {
  readonly vae: AutoencoderKL;
  readonly sizes: AutoencoderKLSizes;
}

/** Everything that steps need, before the first of them. */
export function openSoraAutoencoderCourse(
  frames: RecordedFrames,
  settings: AutoencoderSettings,
  beginning?: AutoencoderKL,
): AutoencoderCourse {
  const { block_out_channels, latent_channels, layers_per_block, norm_num_groups, batch_size } = settings;
  const sizes = {
    block_out_channels,
    layers_per_block,
    norm_num_groups,
    latent_channels,
    in_channels: 3,
    out_channels: 3,
    scaling_factor: 1,
  };
  const vae = newPictureAutoencoder(sizes, settings, frames.device, beginning);
  const training = new WeightTraining(
    vae,
    weightTrainingSettings.strip().parse(settings),
    (lesson: AutoencoderLesson) => autoencoderLoss(vae, lesson, settings),
  );
  const [height, width] = frames.size.map((side) => side / vae.downscale) as [number, number];
  const teacher: Teacher<AutoencoderLesson> = ({ host, device }) => ({
    pictures: frames.pick(frames.draw(batch_size, host)),
    noise: randn([batch_size, latent_channels, height, width], { generator: device, device: frames.device }),
  });
  return { vae, sizes, training, teacher };
}

function writeAutoencoder(
  world: string,
  learned: AutoencoderKL,
  sizes: AutoencoderKLSizes,
  frames: RecordedFrames,
  store: DType,
): void {
  const folder = join(world, "vae");
  mkdirSync(folder, { recursive: true });
  const spread = Math.max(1, Math.floor(frames.count / scaleSample));
  const vae = new AutoencoderKL(sizes, { device: frames.device }); // float32, whatever it learned in
  vae.loadState(learned.state());
  scope(() => standardizeLatents(vae, frames.pick(frames.every(spread))));
  writeSafetensors(join(folder, "diffusion_pytorch_model.safetensors"), stored(vae.state(), store));
  writeJsonFile(join(folder, "config.json"), { _class_name: "AutoencoderKL", ...sizes });
  vae.dispose();
}
