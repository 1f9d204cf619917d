/** What can be set of an EVAC world's training, and the sizes of networks that follow, in the published config's keys. */
import { z } from "zod";
import { UserError } from "#registry";
import { type AutoencoderKL, evacParts } from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { emphasisSettings, lessonSettings } from "../learning/lesson-settings.ts";
import { storedType } from "../learning/stored-weights.ts";
import { weightTrainingSettings } from "../learning/weight-training.ts";
import { predictorSettings } from "./predictor.ts";

export const evacDenoiserSettings = weightTrainingSettings
  .extend({
    steps: z.int().positive().default(20000),
    batch_size: z.int().positive().default(256),
    lr: z.number().positive().default(5e-4),
    model_channels: z.int().multipleOf(32).default(64).describe("a multiple of 32, for the group norms"),
    channel_mult: z.array(z.int().positive()).min(1).default([1, 2]),
    num_res_blocks: z.int().positive().default(1),
    attention_resolutions: z
      .array(z.int().positive())
      .default([2])
      .describe("how many times smaller than latents: 1 costs the most"),
    num_head_channels: z.int().positive().default(16),
    context_dim: z.int().positive().default(128),
    action_tokens: z.int().positive().default(16),
    image_tokens: z.int().positive().default(2).describe("for each new frame"),
    clip_width: z.int().positive().default(64),
    clip_layers: z.int().positive().default(1),
    chunk: z.int().positive().default(8),
    n_previous: z.int().min(2).default(4).describe("frames of memory"),
    base_scale: z
      .number()
      .positive()
      .default(1)
      .describe("of clean latents under much noise; published worlds have 0.7, for many denoising steps"),
    ...lessonSettings,
    ...emphasisSettings,
    precision: z.enum(["fp32", "bf16"]).default("fp32").describe("of the networks while they learn"),
    init_from: z.string().nullish().describe("a world to go on from, with its predictor"),
    new_predictor: z
      .boolean()
      .default(false)
      .describe("learn the action predictor anew where a world goes on"),
    store: storedType,
  })
  .extend(predictorSettings.shape);
export type EvacDenoiserSettings = z.infer<typeof evacDenoiserSettings>;

export function evacSizesOf(
  frames: RecordedFrames,
  vae: AutoencoderKL,
  first_stage_config: evacParts.EvacSizes["first_stage_config"],
  settings: EvacDenoiserSettings,
): evacParts.EvacSizes {
  const { context_dim, clip_width, num_head_channels, channel_mult } = settings;
  const smallest = (frames.size[0] / vae.downscale) * 0.5 ** (channel_mult.length - 1);
  if (!Number.isInteger(smallest) || smallest < 1) {
    throw new UserError(
      `latents of ${frames.size[0] / vae.downscale} positions a side cannot be halved ${channel_mult.length - 1} times: shorten channel_mult`,
    );
  }
  const reader = { dim: context_dim, output_dim: context_dim, dim_head: 32, heads: 4, ff_mult: 2 };
  return evacParts.evacSizes.parse({
    chunk: settings.chunk,
    base_scale: settings.base_scale,
    scale_factor: 1,
    first_stage_config,
    unet_config: {
      params: {
        in_channels: 3 * vae.latentChannels + 7,
        out_channels: vae.latentChannels,
        model_channels: settings.model_channels,
        attention_resolutions: settings.attention_resolutions,
        num_res_blocks: settings.num_res_blocks,
        channel_mult,
        num_head_channels,
        context_dim,
        chunk: settings.chunk,
      },
    },
    cond_stage_config: { params: { ...reader, depth: 2, num_queries: settings.action_tokens } },
    image_proj_stage_config: {
      params: {
        ...reader,
        depth: 1,
        num_queries: settings.image_tokens,
        embedding_dim: clip_width,
        video_length: settings.chunk,
      },
    },
    // The text half is in the layout and never run: one number of each kind.
    img_cond_stage_config: {
      params: {
        width: clip_width,
        layers: settings.clip_layers,
        heads: Math.max(1, Math.floor(clip_width / 32)),
        text_width: 1,
        context_length: 1,
        vocabulary: 1,
      },
    },
  });
}
