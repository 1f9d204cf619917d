/** How Wan worlds are made. */
import { join } from "node:path";
import { writtenKeys } from "../learning/written-keys.ts";
import { definePart, type WorldTraining } from "../world-training.ts";
import { trainWanAutoencoder, wanAutoencoderSettings } from "./autoencoder.ts";
import { trainWanDenoiser, wanDenoiserSettings } from "./denoiser.ts";
import { wanFiles } from "./files.ts";
import { throughVideoAutoencoder } from "./through-video.ts";

const sizes = ["dim", "num_heads", "ffn_dim", "num_layers", "patch_size", "sigma_shift"];

export const wanTraining: WorldTraining = {
  autoencoder: definePart({ settings: wanAutoencoderSettings, train: trainWanAutoencoder }),
  denoiser: definePart({ settings: wanDenoiserSettings, train: trainWanDenoiser }),
  sizesOf: (world) => writtenKeys(join(world, wanFiles.description), sizes),
  through: async (world, frames) => throughVideoAutoencoder(world, frames),
};
