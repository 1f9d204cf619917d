/** Trains a Wan world's denoiser on windows of recorded frames and writes it in the published layout. */
import { join } from "node:path";
import { z } from "zod";
import { readSafetensors, writeSafetensors } from "#formats";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";
import { wanParts } from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { type ImaginedMemory, imaginedMemory } from "../imagined/imagined-memory.ts";
import { initialize } from "../learning/initialize.ts";
import { lessonSettings } from "../learning/lesson-settings.ts";
import { stored, storedType } from "../learning/stored-weights.ts";
import { type Course, type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { asImagined } from "../open-world.ts";
import { readWanDescription, writeWanDescription } from "./description.ts";
import { wanFiles } from "./files.ts";
import { windowLatents } from "./latents.ts";
import { newPictures, WanWindows } from "./windows.ts";

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

function checkPatches({ size }: RecordedFrames, sizes: wanParts.WanSizes): void {
  const latents = size.map((side) => side / wanParts.downscaleOf(sizes));
  const [time, ...patch] = sizes.patch_size;
  if (time === 1 && latents.every((side, i) => side % patch[i]! === 0)) return;
  throw new UserError(
    `patch_size ${JSON.stringify(sizes.patch_size)} does not divide latents of ${latents.join(" × ")} (pictures of ${size.join(" × ")}, ${wanParts.downscaleOf(sizes)} times smaller): choose one frame and parts of those, such as [1,1,1]`,
  );
}

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
  const sizes = wanParts.wanSizes.parse({ ...readWanDescription(world), ...own });
  checkPatches(frames, sizes);
  const { device } = frames;
  const vae = wanParts.loadAutoencoder(join(world, wanFiles.autoencoder), sizes, {
    device,
    ...asImagined(device),
  });
  const imagined = await imaginedMemory(frames, settings, hooks);
  const { denoiser, training, teacher } = wanDenoiserCourse(frames, vae, sizes, settings, imagined);
  await trainingLoop(training, frames.device, teacher, hooks);
  await training.withAverages(async () => {
    writeSafetensors(join(world, wanFiles.denoiser), stored(denoiser.state(), settings.store));
    writeWanDescription(world, { ...own });
  });
  training.dispose();
}

export interface WanDenoiserCourse extends Course<wanParts.LevelLesson> {
  readonly denoiser: wanParts.WanDiT;
}

/** Everything that steps need, before the first of them. */
export function wanDenoiserCourse(
  frames: RecordedFrames,
  vae: wanParts.WanVAE,
  sizes: wanParts.WanSizes,
  settings: WanDenoiserSettings,
  imagined?: ImaginedMemory,
): WanDenoiserCourse {
  const { device } = frames;
  const { steps, batch_size } = settings;
  const denoiser = newDenoiser(sizes, frames, settings);
  const training = new WeightTraining(
    denoiser,
    weightTrainingSettings.strip().parse(settings),
    (lesson: wanParts.LevelLesson) => wanParts.levelLoss(denoiser, lesson),
  );
  const windows = new WanWindows(frames, newPictures, settings.aligned_share, imagined);
  const draws = steps * batch_size;
  const { dtype } = vae.conv1.weight;
  const encode = (video: Tensor): Tensor => vae.encode(video.to({ dtype })).float();
  const latentsOf = windowLatents(windows, encode, { device, draws });
  const teacher: Teacher<wanParts.LevelLesson> = (random) => {
    const chosen = windows.choose(batch_size, random.numbers);
    return wanParts.drawLevelLesson(latentsOf(chosen), windows.actions(chosen), settings, random.device);
  };
  return { denoiser, training, teacher };
}

function newDenoiser(
  sizes: wanParts.WanSizes,
  { device }: RecordedFrames,
  settings: WanDenoiserSettings,
): wanParts.WanDiT {
  const denoiser = new wanParts.WanDiT(sizes, { device });
  initialize(denoiser, settings.seed, (name) => name === "head.head.weight");
  if (settings.init_from) {
    const source = join(settings.init_from, wanFiles.denoiser);
    denoiser.loadState(readSafetensors(source), { source });
  }
  return settings.precision === "bf16" ? denoiser.to({ dtype: "bfloat16" }) : denoiser;
}
