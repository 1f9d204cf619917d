/** Trains a Wan world, its video autoencoder first, then its denoiser, and writes them in the published layout. */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  readJsonFile,
  readSafetensors,
  readTorchState,
  writeJsonFile,
  writeSafetensors,
  writeTorchState,
} from "#formats";
import { xorshift32 } from "#random";
import { UserError } from "#registry";
import { randn, scope, type Tensor } from "#tensor";
import {
  downscaleOf,
  drawLevelLesson,
  type LevelLesson,
  latentStatistics,
  levelLoss,
  loadWanAutoencoder,
  type VideoLesson,
  videoAutoencoderLoss,
  WanDiT,
  type WanSizes,
  WanVAE,
  wanSizes,
} from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { type ImaginedMemory, imaginedMemory } from "../imagined/imagined-memory.ts";
import { initialise } from "../learning/initialise.ts";
import { detailWeight, lessonSettings } from "../learning/lesson-settings.ts";
import { stored, storedType } from "../learning/stored-weights.ts";
import { type Course, type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { asImagined } from "../reward-model/through-autoencoder.ts";
import { windowLatents } from "./latents.ts";
import { newPictures, WanWindows } from "./windows.ts";

const latentFrames = 4;
/** Windows that the spread of latents is measured on. */
const scaleSample = 128;
const weightsFile = "model-00001.safetensors";
const autoencoderFile = "Wan2.2_VAE.pth";

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

export const wanDenoiserSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(20000),
  batch_size: z.int().positive().default(256),
  lr: z.number().positive().default(5e-4),
  dim: z.int().positive().default(288),
  num_heads: z.int().positive().default(6),
  ffn_dim: z.int().positive().default(1152),
  num_layers: z.int().positive().default(8),
  patch_size: z.array(z.int().positive()).length(3).default([1, 2, 2]),
  sigma_shift: z.number().positive().default(1).describe("of the noise levels, in training and in the world"),
  ...lessonSettings,
  precision: z.enum(["fp32", "bf16"]).default("fp32").describe("of the network while it learns"),
  init_from: z.string().nullish().describe("a world whose denoiser to go on from"),
  store: storedType,
});
export type WanDenoiserSettings = z.infer<typeof wanDenoiserSettings>;

export async function trainWanAutoencoder(
  frames: RecordedFrames,
  settings: WanAutoencoderSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { z_dim, vae_dim, vae_dec_dim, dim_mult, num_res_blocks } = settings;
  const own = { z_dim, vae_dim, vae_dec_dim, dim_mult, num_res_blocks };
  checkPictures(frames, downscaleOf(own));
  const plain = { vae_mean: Array<number>(z_dim).fill(0), vae_std: Array<number>(z_dim).fill(1) };
  const vae = new WanVAE(wanSizes.parse({ ...own, ...plain }), { device: frames.device });
  initialise(vae, settings.seed);
  if (settings.init_from) {
    const source = join(settings.init_from, autoencoderFile);
    vae.loadState(readTorchState(source), { source });
  }
  if (settings.precision === "bf16") vae.to({ dtype: "bfloat16" });
  const training = new WeightTraining(
    vae,
    weightTrainingSettings.strip().parse(settings),
    (lesson: VideoLesson) => videoAutoencoderLoss(vae, lesson, settings),
  );
  const windows = new WanWindows(frames, newPictures);
  const draw: Teacher<VideoLesson> = ({ numbers, device }) => ({
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
      latentStatistics(vae, windows.drawVideo(scaleSample, xorshift32(settings.seed))),
    );
    mkdirSync(world, { recursive: true });
    writeTorchState(join(world, autoencoderFile), stored(vae.state(), settings.store));
    writeJsonFile(configPath(world), { ...readConfig(world), ...own, vae_mean: mean, vae_std: std });
  });
  training.dispose();
}

function latentShape(sizes: Pick<WanSizes, "z_dim" | "dim_mult">, { size }: RecordedFrames): number[] {
  const downscale = downscaleOf(sizes);
  return [sizes.z_dim, latentFrames, ...size.map((side) => side / downscale)];
}

/** Latents are whole numbers of pixels apart. */
function checkPictures({ size }: RecordedFrames, downscale: number): void {
  if (size.every((side) => side % downscale === 0)) return;
  throw new UserError(
    `pictures of ${size.join(" × ")} cannot be made ${downscale} times smaller on each side: choose another dim_mult (3 levels: 8 times)`,
  );
}

function checkPatches({ size }: RecordedFrames, sizes: WanSizes): void {
  const latents = size.map((side) => side / downscaleOf(sizes));
  const [time, ...patch] = sizes.patch_size;
  if (time === 1 && latents.every((side, i) => side % patch[i]! === 0)) return;
  throw new UserError(
    `patch_size ${JSON.stringify(sizes.patch_size)} does not divide latents of ${latents.join(" × ")} (pictures of ${size.join(" × ")}, ${downscaleOf(sizes)} times smaller): choose one frame and parts of those, such as [1,1,1]`,
  );
}

const configPath = (world: string): string => join(world, "config.json");
const readConfig = (world: string): object =>
  existsSync(configPath(world)) ? readJsonFile(configPath(world)) : {};

export async function trainWanDenoiser(
  frames: RecordedFrames,
  settings: WanDenoiserSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { dim, num_heads, ffn_dim, num_layers, patch_size, sigma_shift } = settings;
  const own = { dim, num_heads, ffn_dim, num_layers, patch_size, sigma_shift };
  if ((dim / num_heads) % 6 !== 0) {
    throw new UserError(
      `dim ${dim} gives each of ${num_heads} heads ${dim / num_heads} channels; time, rows and columns need pairs of them: a multiple of 6`,
    );
  }
  const sizes = wanSizes.parse({ ...readConfig(world), ...own });
  checkPatches(frames, sizes);
  const { device } = frames;
  const vae = loadWanAutoencoder(join(world, autoencoderFile), sizes, { device, ...asImagined(device) });
  const imagined = await imaginedMemory(frames, settings, hooks);
  const { denoiser, training, teacher } = wanDenoiserCourse(frames, vae, sizes, settings, imagined);
  await trainingLoop(training, frames.device, teacher, hooks);
  await training.withAverages(async () => {
    writeSafetensors(join(world, weightsFile), stored(denoiser.state(), settings.store));
    writeJsonFile(configPath(world), { ...readConfig(world), ...own });
  });
  training.dispose();
}

export interface WanDenoiserCourse extends Course<LevelLesson> {
  readonly denoiser: WanDiT;
}

/** Everything that steps need, before the first of them. */
export function wanDenoiserCourse(
  frames: RecordedFrames,
  vae: WanVAE,
  sizes: WanSizes,
  settings: WanDenoiserSettings,
  imagined?: ImaginedMemory,
): WanDenoiserCourse {
  const { device } = frames;
  const { steps, batch_size } = settings;
  const denoiser = newDenoiser(sizes, frames, settings);
  const training = new WeightTraining(
    denoiser,
    weightTrainingSettings.strip().parse(settings),
    (lesson: LevelLesson) => levelLoss(denoiser, lesson),
  );
  const windows = new WanWindows(frames, newPictures, settings.aligned_share, imagined);
  const draws = steps * batch_size;
  const { dtype } = vae.conv1.weight;
  const encode = (video: Tensor): Tensor => vae.encode(video.to({ dtype })).float();
  const latentsOf = windowLatents(windows, encode, { device, draws });
  const teacher: Teacher<LevelLesson> = (random) => {
    const chosen = windows.choose(batch_size, random.numbers);
    return drawLevelLesson(latentsOf(chosen), windows.actions(chosen), settings, random.device);
  };
  return { denoiser, training, teacher };
}

function newDenoiser(sizes: WanSizes, { device }: RecordedFrames, settings: WanDenoiserSettings): WanDiT {
  const denoiser = new WanDiT(sizes, { device });
  initialise(denoiser, settings.seed, (name) => name === "head.head.weight");
  if (settings.init_from) {
    const source = join(settings.init_from, weightsFile);
    denoiser.loadState(readSafetensors(source), { source });
  }
  return settings.precision === "bf16" ? denoiser.to({ dtype: "bfloat16" }) : denoiser;
}
