/**
 * Trains an EVAC world's picture autoencoder, on recorded frames and on drawings of the hand's pose.
 *
 * Both go through it at run time: what an episode looks like, and where the hand is to go. Eight times smaller on each
 * side, like Stable Diffusion's, but with more channels, because small pictures leave few positions.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeJsonFile, writeTorchState } from "#formats";
import { xorshift32 } from "#random";
import { cat, type Generator, keep, randint, randn, scope, type Tensor } from "#tensor";
import {
  type AutoencoderKL,
  type AutoencoderLesson,
  autoencoderLoss,
  evacParts,
  standardizeLatents,
} from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import {
  newPictureAutoencoder,
  pictureAutoencoderSettings,
  readBeginning,
} from "../learning/picture-autoencoder.ts";
import { stored } from "../learning/stored-weights.ts";
import { type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { drawHands, handView, recordedPoses } from "./view.ts";

export const evacAutoencoderSettings = pictureAutoencoderSettings.extend({
  ch: z.int().positive().default(16),
  ch_mult: z
    .array(z.int().positive())
    .min(2)
    .default([1, 2, 4, 4])
    .describe("each level but the first halves the picture"),
  num_res_blocks: z.int().positive().default(1),
  z_channels: z.int().positive().default(32),
  drawn_share: z.number().min(0).max(1).default(0.15).describe("of lessons that are drawings of poses"),
});
export type EvacAutoencoderSettings = z.infer<typeof evacAutoencoderSettings>;

/** Frames that the spread of latents is measured on, and drawings that lessons are taken from. */
const scaleSample = 1024;
const drawnSample = 1024;

export async function trainEvacAutoencoder(
  frames: RecordedFrames,
  settings: EvacAutoencoderSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { ch, ch_mult, num_res_blocks, norm_num_groups, z_channels } = settings;
  const sizes = evacParts.evacSizes.parse({
    scale_factor: 1,
    first_stage_config: {
      params: { ddconfig: { ch, ch_mult, num_res_blocks, norm_num_groups, z_channels } },
    },
  });
  const vae = newPictureAutoencoder(
    evacParts.autoencoderSizes(sizes),
    settings,
    frames.device,
    await readBeginning(settings, frames.device),
  );
  const training = new WeightTraining(
    vae,
    weightTrainingSettings.strip().parse(settings),
    (lesson: AutoencoderLesson) => autoencoderLoss(vae, lesson, settings),
  );
  await trainingLoop(training, frames.device, teacher(frames, vae, settings), hooks);
  await training.withAverages(async () => {
    mkdirSync(world, { recursive: true });
    const spread = Math.max(1, Math.floor(frames.count / scaleSample));
    vae.to({ dtype: "float32" });
    scope(() => standardizeLatents(vae, frames.pick(frames.every(spread))));
    const state = evacParts.publishedAutoencoder(vae, ch_mult.length);
    writeTorchState(join(world, evacParts.evacFiles.autoencoder), stored(state, settings.store));
    writeJsonFile(join(world, evacParts.evacFiles.autoencoderSizes), sizes.first_stage_config);
  });
  training.dispose();
}

function teacher(
  frames: RecordedFrames,
  vae: AutoencoderKL,
  { batch_size, drawn_share, seed }: EvacAutoencoderSettings,
): Teacher<AutoencoderLesson> {
  const drawings = keep(scope(() => someDrawings(frames, seed)));
  const drawn = Math.round(batch_size * drawn_share);
  const [height, width] = frames.size.map((side) => side / vae.downscale) as [number, number];
  const latent = [batch_size, vae.latentChannels, height, width];
  const pickDrawn = (host: Generator): Tensor => {
    const rows = randint(0, drawings.shape[0]!, [drawn], { generator: host });
    return drawings.indexSelect(0, rows.to({ device: frames.device }));
  };
  return ({ host, device }) => {
    const seen = frames.pick(frames.draw(batch_size - drawn, host));
    return {
      pictures: drawn > 0 ? cat([seen, pickDrawn(host)]) : seen,
      noise: randn(latent, { generator: device, device: frames.device }),
    };
  };
}

function someDrawings(frames: RecordedFrames, seed: number): Tensor {
  const poses = recordedPoses(frames);
  const numbers = xorshift32(seed);
  const chosen = Array.from({ length: Math.min(drawnSample, poses.length) }, () => {
    return poses[Math.floor(numbers() * poses.length)]!;
  });
  return drawHands(chosen, handView(frames, poses), frames);
}
