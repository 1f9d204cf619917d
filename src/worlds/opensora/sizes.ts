/** Sizes of an OpenSora world, read from the `config.json` of its folder under the published names. */
import { z } from "zod";
import { layerCount } from "#nn";

/** STDiT3-XL/2 is the default, as in `RLinf/RLinf-OpenSora-LIBERO-*`. */
export const stdit3Sizes = z.looseObject({
  depth: layerCount.default(28),
  hidden_size: z.int().positive().default(1152),
  num_heads: z.int().positive().default(16),
  mlp_ratio: z.number().positive().default(4),
  in_channels: z.int().positive().default(4),
  patch_size: z.array(z.int().positive()).length(3).default([1, 2, 2]),
  pred_sigma: z.boolean().default(true),
  caption_channels: z.int().positive().default(4096),
  model_max_length: z.int().positive().default(300),
  input_sq_size: z.int().positive().default(512),
  vae_downscale: z.int().positive().default(8).describe("pixels per latent position; published: 8"),
  action_dim: z.int().positive().default(7),
  text_weights: z
    .boolean()
    .default(true)
    .describe("whether the file has the unused weights of the text-to-video model, as published ones do"),
  pad_action_num: z.int().positive().default(4),
});
export type STDiT3Sizes = z.infer<typeof stdit3Sizes>;
