/** Sizes of an EVAC world, in the keys of its published instantiation config; the defaults are the published sizes. */
import { z } from "zod";
import { layerCount } from "#nn";

const size = (value: number) => z.int().positive().default(value);
const sizes = (values: number[]) => z.array(z.int().positive()).min(1).default(values);

const unet = z.looseObject({
  in_channels: size(19),
  out_channels: size(4),
  model_channels: size(320),
  attention_resolutions: sizes([4, 2, 1]),
  num_res_blocks: layerCount.default(2),
  channel_mult: sizes([1, 2, 4, 4]),
  num_head_channels: size(64),
  context_dim: size(1024),
  chunk: size(8),
});
export type UNetSizes = z.infer<typeof unet>;

const resampler = (queries: number, input: number, length: number) =>
  z.looseObject({
    dim: size(1024),
    depth: layerCount.default(4),
    dim_head: size(64),
    heads: size(12),
    num_queries: size(queries),
    embedding_dim: size(input),
    output_dim: size(1024),
    ff_mult: size(4),
    video_length: size(length),
  });
export type ResamplerSizes = z.infer<ReturnType<typeof resampler>>;

const clip = z.looseObject({
  width: size(1280),
  layers: layerCount.default(32),
  heads: z.int().positive().optional(),
  /** Of the text half, which is in the files and never used. */
  text_width: size(1024),
  context_length: size(77),
  vocabulary: size(49408),
});
export type ClipSizes = z.infer<typeof clip>;

const autoencoder = z.looseObject({
  z_channels: size(4),
  in_channels: size(3),
  out_ch: size(3),
  ch: size(128),
  ch_mult: sizes([1, 2, 4, 4]),
  num_res_blocks: layerCount.default(2),
  norm_num_groups: size(32),
});

/** `{ params: … }` around a schema, each level optional. */
const inside = <S extends z.ZodType>(schema: S) =>
  z.looseObject({ params: schema.prefault({} as never) }).prefault({} as never);

export const evacSizes = z.looseObject({
  linear_start: z.number().default(0.00085),
  linear_end: z.number().default(0.012),
  rescale_betas_zero_snr: z.boolean().default(true),
  base_scale: z.number().default(0.7),
  scale_factor: z.number().default(0.18215),
  chunk: size(8),
  unet_config: inside(unet),
  first_stage_config: inside(z.looseObject({ ddconfig: autoencoder.prefault({}) })),
  cond_stage_config: inside(resampler(16, 14, 1)),
  image_proj_stage_config: inside(resampler(16, 1280, 8)),
  img_cond_stage_config: inside(clip),
});
export type EvacSizes = z.infer<typeof evacSizes>;
