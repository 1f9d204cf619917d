/** Trains a Wan world's video autoencoder on windows of recorded frames and writes it in the published layout. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readTorchState, writeTorchState } from "#formats";
import { xorshift32 } from "#random";
import { UserError } from "#registry";
import { randn, scope } from "#tensor";
import { wanParts } from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { initialize } from "../learning/initialize.ts";
import { detailWeight } from "../learning/lesson-settings.ts";
import { stored, storedType } from "../learning/stored-weights.ts";
import { type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { writeWanDescription } from "./description.ts";
import { wanFiles } from "./files.ts";
import { newPictures, WanWindows } from "./windows.ts";

const latentFrames = 4;
/** Windows that the spread of latents is measured on. */
const scaleSample = 128;

export const wanAutoencoderSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(4000),
  batch_size: z.int().positive().default(32),
  lr: z.number().positive().default(1e-3),
  z_dim: z.int().positive().default(48),
  vae_dim: z.int().positive().default(32),
  vae_dec_dim: z.int().positive().default(48),
  dim_mult: z
    .array(z.int().positive())
    .min(3)
    .refine((widths) => widths.at(-1) === widths.at(-2), "the last two levels have the same width")
    .default([1, 2, 2])
    .describe("widths of the levels; latents of 3 are 8 times smaller on each side, of 4 as published 16"),
  num_res_blocks: z.int().positive().default(1),
  squared_weight: z.number().min(0).default(2),
  detail_weight: detailWeight,
  latent_weight: z.number().min(0).default(1e-4),
  latent_noise: z.number().min(0).default(0.05),
  precision: z.enum(["fp32", "bf16"]).default("fp32").describe("of the network while it learns"),
  init_from: z.string().nullish().describe("a world whose autoencoder to go on from"),
  store: storedType,
});
export type WanAutoencoderSettings = z.infer<typeof wanAutoencoderSettings>;

export async function trainWanAutoencoder(
  frames: RecordedFrames,
  settings: WanAutoencoderSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { z_dim, vae_dim, vae_dec_dim, dim_mult, num_res_blocks } = settings;
  const own = { z_dim, vae_dim, vae_dec_dim, dim_mult, num_res_blocks };
  checkPictures(frames, wanParts.downscaleOf(own));
  const plain = { vae_mean: Array<number>(z_dim).fill(0), vae_std: Array<number>(z_dim).fill(1) };
  const vae = new wanParts.WanVAE(wanParts.wanSizes.parse({ ...own, ...plain }), { device: frames.device });
  initialize(vae, settings.seed);
  if (settings.init_from) {
    const source = join(settings.init_from, wanFiles.autoencoder);
    vae.loadState(readTorchState(source), { source });
  }
  if (settings.precision === "bf16") vae.to({ dtype: "bfloat16" });
  const training = new WeightTraining(
    vae,
    weightTrainingSettings.strip().parse(settings),
    (lesson: wanParts.VideoLesson) => wanParts.videoAutoencoderLoss(vae, lesson, settings),
  );
  const windows = new WanWindows(frames, newPictures);
  const draw: Teacher<wanParts.VideoLesson> = ({ numbers, device }) => ({
    video: windows.drawVideo(settings.batch_size, numbers),
    noise: randn([settings.batch_size, ...latentShape(own, frames)], {
      generator: device,
      device: frames.device,
    }),
  });
  await trainingLoop(training, frames.device, draw, hooks);
  await training.withAverages(async () => {
    vae.to({ dtype: "float32" });
    const { mean, std } = scope(() =>
      wanParts.latentStatistics(vae, windows.drawVideo(scaleSample, xorshift32(settings.seed))),
    );
    mkdirSync(world, { recursive: true });
    writeTorchState(join(world, wanFiles.autoencoder), stored(vae.state(), settings.store));
    writeWanDescription(world, { ...own, vae_mean: mean, vae_std: std });
  });
  training.dispose();
}

function latentShape(
  sizes: Pick<wanParts.WanSizes, "z_dim" | "dim_mult">,
  { size }: RecordedFrames,
): number[] {
  const downscale = wanParts.downscaleOf(sizes);
  return [sizes.z_dim, latentFrames, ...size.map((side) => side / downscale)];
}

/** Latents are whole numbers of pixels apart. */
function checkPictures({ size }: RecordedFrames, downscale: number): void {
  if (size.every((side) => side % downscale === 0)) return;
  throw new UserError(
    `pictures of ${size.join(" × ")} cannot be made ${downscale} times smaller on each side: choose another dim_mult (3 levels: 8 times)`,
  );
}
