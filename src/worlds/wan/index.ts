/** The Wan family: what it reads of an env block and of a folder, and how it is loaded. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "#registry";
import { defineWorld, type FolderOptions } from "../world-family.ts";
import { section } from "./section.ts";
import { WanWorld } from "./wan-world.ts";
import { loadAutoencoder, loadDenoiser, readWanSizes } from "./weights.ts";

const autoencoderFile = "Wan2.2_VAE.pth";

const settings = z.looseObject({
  wan_wm_hf_ckpt_path: z.string().optional(),
  model_path: z.string().optional(),
  VAE_path: z.string().optional(),
  chunk: z.int().positive().default(8),
  condition_frame_length: z.int().positive().default(5),
  num_frames: z.int().positive().default(13),
  num_inference_steps: z.int().positive().max(1000).default(5),
  image_size: z.tuple([z.int().positive(), z.int().positive()]).default([256, 256]),
  reset_gripper_open: z.boolean().default(true),
  vae_micro_batch_size: z.int().positive().default(8).describe("videos per call of the autoencoder"),
  cuda_graph: z.boolean().default(true).describe("replay captured sampling of small batches on a GPU"),
});

export const wan = defineWorld({
  name: "wan",
  settings,
  section,
  recognizes: (folder) => existsSync(join(folder, autoencoderFile)),
  blockOf: (folder, { samplingSteps, size, device }) => ({
    wan_wm_hf_ckpt_path: folder,
    image_size: [...size],
    vae_micro_batch_size: videosTogether(size, device),
    ...(samplingSteps !== undefined && { num_inference_steps: samplingSteps }),
  }),
  load(config, place) {
    const { chunk, condition_frame_length: memoryFrames, num_frames: frames } = config;
    if (chunk + memoryFrames !== frames || (frames - 1) % 4 !== 0) {
      throw new UserError(
        `num_frames (${frames}) must be condition_frame_length (${memoryFrames}) + chunk (${chunk}), and 1 more than a multiple of 4`,
      );
    }
    const file = (given: string | undefined, name: string): string => {
      if (given !== undefined) return given;
      if (config.wan_wm_hf_ckpt_path !== undefined) return join(config.wan_wm_hf_ckpt_path, name);
      throw new UserError("set env.train.wan_wm_hf_ckpt_path to the folder of a Wan world");
    };
    const model = file(config.model_path, "model-00001.safetensors");
    const sizes = readWanSizes(model);
    return new WanWorld({
      denoiser: loadDenoiser(model, sizes, place),
      vae: loadAutoencoder(file(config.VAE_path, autoencoderFile), sizes, place),
      sizes,
      imageSize: config.image_size,
      chunk,
      memoryFrames,
      steps: config.num_inference_steps,
      gripperOpen: config.reset_gripper_open,
      vaeMicroBatch: config.vae_micro_batch_size,
      cudaGraph: config.cuda_graph,
    });
  },
});

/**
 * On a GPU the autoencoder gets as many pixels at a time as eight videos of published size have: a few small ones would wait for launches.
 * A CPU is fastest with what fits its caches (eight of 64 × 64 instead of 64: 1.5 times as fast).
 */
const videosTogether = ([height, width]: FolderOptions["size"], device: FolderOptions["device"]): number =>
  device === "cpu" ? 8 : Math.max(8, Math.round((8 * 256 * 256) / (height * width)));
