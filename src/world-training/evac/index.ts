/** How EVAC worlds are made. */
import { throughPictureAutoencoder } from "../learning/through-pictures.ts";
import { definePart, type WorldTraining } from "../world-training.ts";
import { evacAutoencoderSettings, trainEvacAutoencoder } from "./autoencoder.ts";
import { trainEvacDenoiser } from "./denoiser.ts";
import { evacDenoiserSettings } from "./settings.ts";

export const evacTraining: WorldTraining = {
  autoencoder: definePart({ settings: evacAutoencoderSettings, train: trainEvacAutoencoder }),
  denoiser: definePart({ settings: evacDenoiserSettings, train: trainEvacDenoiser }),
  sizesOf: () => ({}), // its description holds all sizes, and goes with the weights
  through: throughPictureAutoencoder,
};
