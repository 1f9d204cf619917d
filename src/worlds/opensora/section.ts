/** `env_type: opensora_wm`: how the env block of LIBERO imagined by OpenSora looks. */
import { z } from "zod";
import { chunkKey, pictureSize } from "../section-keys.ts";
import type { WorldSection } from "../world-family.ts";

const worldModel = z.strictObject({
  stats_path: z.string().describe("file with the bounds of actions, dataset_statistics.json"),
  dtype: z
    .string()
    .default("bf16")
    .describe("in which the world computes on an accelerator: bf16, fp16 or fp32; on a CPU always fp32"),
  chunk: chunkKey,
  condition_frame_length: z.int().positive().default(4).describe("frames of memory"),
  image_size: pictureSize.default([256, 256]).describe("height and width of the pictures"),
  num_sampling_steps: z
    .int()
    .positive()
    .default(10)
    .describe("sampling steps a chunk; worlds that our commands made need 2"),
  fps: z.number().positive().nullish().describe("no effect here: the network is told no rate"),
  multi_resolution: z.string().nullish().describe("no effect here: pictures have one size"),
  model: z.strictObject({
    type: z
      .string()
      .default("STDiT3-XL/2")
      .describe("no effect here: the weights and their config.json say which network it is"),
    from_pretrained: z.string().describe("file or folder of the denoiser"),
    qk_norm: z.literal(true).default(true).describe("must be true, as in the published network"),
    enable_flash_attn: z.boolean().optional().describe("no effect here: attention is our own"),
    enable_layernorm_kernel: z.boolean().optional().describe("no effect here: norms are our own"),
    action_dim: z
      .int()
      .positive()
      .default(7)
      .describe("no effect here: the weights and their config.json say it"),
    pad_action_num: z
      .int()
      .positive()
      .default(4)
      .describe("no effect here: the weights and their config.json say it"),
  }),
  vae: z.strictObject({
    type: z
      .enum(["SDXL", "OpenSoraVAE_V1_2"])
      .default("SDXL")
      .describe("no effect here: the autoencoder's own config.json says which it is"),
    from_pretrained: z.string().describe("folder of the autoencoder"),
    micro_frame_size: z.int().positive().default(8).describe("no effect here: micro_batch_size decides"),
    micro_batch_size: z.int().positive().default(64).describe("frames per call of the autoencoder"),
  }),
  reward_model: z.strictObject({
    type: z.string().describe("ResnetRewModel, or TaskEmbedResnetRewModel, which is told the task"),
    from_pretrained: z.string().describe("file of the reward model"),
  }),
  scheduler: z
    .strictObject({
      type: z.enum(["rflow"]).default("rflow").describe("must be rflow: rectified flow"),
      use_timestep_transform: z
        .boolean()
        .default(true)
        .describe("move sampling times with the size of the pictures, as the published world does"),
      sample_method: z.string().default("logit-normal").describe("no effect here: it belongs to training"),
      num_sampling_steps: z
        .int()
        .positive()
        .optional()
        .describe("no effect here: world_model_cfg.num_sampling_steps decides"),
      cfg_scale: z.number().optional().describe("no effect here: sampling has no guidance"),
    })
    .prefault({}),
});

export const section: WorldSection = {
  keys: {
    opensora_wm_hf_ckpt_path: z.string().describe("folder of a published OpenSora world"),
    initial_image_path: z.string().describe("folder of recorded starts: the world's dataset/"),
    world_model_cfg: worldModel,
  },
  chunkKey: "world_model_cfg.chunk",
  // STDiT3-XL/2 1.213 B, the SDXL autoencoder 84 M, a ResNet-18 11 M; decoding frames takes the most room per slot.
  footprint: ({ world_model_cfg }) => {
    const [side = 256] = (world_model_cfg as { image_size?: number[] } | undefined)?.image_size ?? [];
    return side <= 128
      ? { parameters: 1e7, deviceBytesPerSlot: 2e7, note: "env: our small OpenSora sizes" }
      : { parameters: 1.308e9, deviceBytesPerSlot: 0.6e9, note: "env: published OpenSora sizes" };
  },
};
