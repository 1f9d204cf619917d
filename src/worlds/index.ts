/** World models: video generators that answer actions, each family behind the same contract. */

export { AutoencoderKL, type AutoencoderKLSizes } from "./autoencoder-kl/autoencoder-kl.ts";
export {
  type AutoencoderLesson,
  autoencoderLoss,
  standardizeLatents,
} from "./autoencoder-kl/training.ts";
// For those who train worlds: the networks of each family, their sizes and losses.
export * as evacParts from "./evac/parts.ts";
export { envTypeOf, folderKeyOf, recognizeWorld, worlds } from "./families.ts";
export { FixedSeedNoise, type NoisePurpose, type NoiseSource, SlotNoise } from "./noise.ts";
export * as openSoraParts from "./opensora/parts.ts";
export { fromBytes, resizeFrames, toBytes } from "./pixels.ts";
export { type NamedRewardModel, namedRewardModel } from "./section-keys.ts";
export * as wanParts from "./wan/parts.ts";
export type {
  DenoisingWatcher,
  Imagined,
  ImagineRequest,
  World,
  WorldMemory,
  WorldStart,
} from "./world.ts";
export { defineWorld, type FolderOptions, type WorldFamily, type WorldPlace } from "./world-family.ts";
