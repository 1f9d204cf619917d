/** `env_type: wan_wm`: how the env block of LIBERO imagined by Wan 2.2 looks. */
import { z } from "zod";
import { chunkKey, cudaGraph, pictureSize } from "../section-keys.ts";
import type { WorldSection } from "../world-family.ts";

export const section: WorldSection = {
  keys: {
    wan_wm_hf_ckpt_path: z.string().nullish().describe("folder of a published Wan world"),
    VAE_path: z.string().describe("file of the autoencoder"),
    model_path: z.string().describe("file or folder of the denoiser"),
    initial_image_path: z.string().describe("folder of recorded starts: the world's dataset/"),
    enable_kir: z.boolean().default(true).describe("also start just before the decisive moment"),
    num_inference_steps: z.int().positive().default(5).describe("sampling steps a chunk"),
    chunk: chunkKey,
    condition_frame_length: z.int().positive().default(5).describe("frames of memory"),
    num_frames: z
      .int()
      .positive()
      .default(13)
      .describe("must be condition_frame_length + chunk, and one more than a multiple of 4"),
    image_size: pictureSize.default([256, 256]).describe("height and width of the pictures"),
    cuda_graph: cudaGraph,
    retain_action: z.literal(true).default(true).describe("must be true: the memory keeps its actions"),
    vae_micro_batch_size: z
      .int()
      .positive()
      .optional()
      .describe("videos per call of the autoencoder; absent: 8"),
    reward_model: z.strictObject({
      type: z.enum(["ResnetRewModel", "TaskEmbedResnetRewModel"]).describe("the latter is told the task"),
      from_pretrained: z.string().describe("file of the reward model"),
    }),
  },
  chunkKey: "chunk",
  // The DiT has 5.03 B parameters, the autoencoder 0.70 B.
  footprint: ({ image_size }) =>
    ((image_size as number[] | undefined)?.[0] ?? 256) <= 128
      ? { parameters: 1e7, deviceBytesPerSlot: 2e7, note: "env: our small Wan sizes" }
      : { parameters: 5.74e9, deviceBytesPerSlot: 0.8e9, note: "env: published Wan 2.2 sizes" },
  check: (settings) => {
    const {
      chunk,
      condition_frame_length: memory,
      num_frames: frames,
    } = settings as Record<string, number | undefined>;
    const sum = (chunk ?? 8) + (memory ?? 5);
    if (frames === sum) return [];
    return [{ path: "num_frames", message: `is ${frames}, but condition_frame_length + chunk is ${sum}` }];
  },
};
