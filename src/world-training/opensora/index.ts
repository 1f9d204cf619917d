/** How OpenSora worlds are made. */
import { join } from "node:path";
import { throughPictureAutoencoder } from "../learning/through-pictures.ts";
import { writtenKeys } from "../learning/written-keys.ts";
import { definePart, type WorldTraining } from "../world-training.ts";
import { openSoraAutoencoderSettings, trainOpenSoraAutoencoder } from "./autoencoder.ts";
import { openSoraDenoiserSettings, trainOpenSoraDenoiser } from "./denoiser.ts";

const sizes = [
  "depth",
  "hidden_size",
  "num_heads",
  "patch_size",
  "text_weights",
  "chunk",
  "condition_frame_length",
];

export const openSoraTraining: WorldTraining = {
  autoencoder: definePart({ settings: openSoraAutoencoderSettings, train: trainOpenSoraAutoencoder }),
  denoiser: definePart({ settings: openSoraDenoiserSettings, train: trainOpenSoraDenoiser }),
  sizesOf: (world) => writtenKeys(join(world, "config.json"), sizes),
  through: throughPictureAutoencoder,
};
