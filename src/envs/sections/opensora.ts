/** `env_type: opensora_wm`: LIBERO imagined by OpenSora. */
import { z } from "zod";
import type { FamilySettings } from "#registry";
import { chunkFindings, learnedKeys, picture } from "./learned.ts";

const worldModel = z.strictObject({
  stats_path: z.string(),
  dtype: z.string().default("bf16"),
  chunk: z.int().positive().default(8),
  condition_frame_length: z.int().positive().default(4),
  image_size: picture.default([256, 256]),
  num_sampling_steps: z.int().positive().default(10),
  fps: z.number().positive().nullish(),
  multi_resolution: z.string().nullish(),
  model: z.strictObject({
    type: z.string().default("STDiT3-XL/2"),
    from_pretrained: z.string(),
    qk_norm: z.literal(true).default(true),
    enable_flash_attn: z.boolean().optional(),
    enable_layernorm_kernel: z.boolean().optional(),
    action_dim: z.int().positive().default(7),
    pad_action_num: z.int().positive().default(4),
  }),
  vae: z.strictObject({
    type: z.enum(["SDXL", "OpenSoraVAE_V1_2"]).default("SDXL"),
    from_pretrained: z.string(),
    micro_frame_size: z.int().positive().default(8),
    micro_batch_size: z.int().positive().default(64),
  }),
  reward_model: z.strictObject({ type: z.string(), from_pretrained: z.string() }),
  scheduler: z
    .strictObject({
      type: z.enum(["rflow"]).default("rflow"),
      use_timestep_transform: z.boolean().default(true),
      sample_method: z.string().default("logit-normal"),
      num_sampling_steps: z.int().positive().optional(),
      cfg_scale: z.number().optional(),
    })
    .prefault({}),
});

export const openSoraSection: FamilySettings = {
  offload: true,
  settings: z.strictObject({
    ...learnedKeys,
    opensora_wm_hf_ckpt_path: z.string().describe("folder of a published OpenSora world"),
    initial_image_path: z.string(),
    world_model_cfg: worldModel,
  }),
  // STDiT3-XL/2 1.213 B, the SDXL autoencoder 84 M, a ResNet-18 11 M; decoding frames takes the most room per slot.
  footprint: ({ world_model_cfg }) => {
    const [side = 256] = (world_model_cfg as { image_size?: number[] } | undefined)?.image_size ?? [];
    return side <= 128
      ? { parameters: 1e7, deviceBytesPerSlot: 2e7, note: "env: our small OpenSora sizes" }
      : { parameters: 1.308e9, deviceBytesPerSlot: 0.6e9, note: "env: published OpenSora sizes" };
  },
  check: (settings, run) =>
    chunkFindings(
      "world_model_cfg.chunk",
      (settings.world_model_cfg as { chunk?: number } | undefined)?.chunk,
      run,
    ),
};
