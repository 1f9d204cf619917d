/** World models: video generators that answer actions, each family behind the same contract. */

// For those who train worlds: the networks and their losses.
export { AutoencoderKL } from "./autoencoder-kl/autoencoder-kl.ts";
export {
  type AutoencoderLesson,
  type AutoencoderTraining,
  autoencoderLoss,
  standardiseLatents,
} from "./autoencoder-kl/training.ts";
export { type WorldFamily, worlds } from "./families.ts";
export { inMicroBatches } from "./micro-batch.ts";
export { FixedSeedNoise, type NoisePurpose, type NoiseSource, SlotNoise } from "./noise.ts";
export { STDiT3 } from "./opensora/model.ts";
export { type STDiT3Sizes, stdit3Sizes } from "./opensora/sizes.ts";
export {
  drawFlowLesson,
  type FlowLesson,
  type FlowTraining,
  flowLoss,
  type WindowBatch,
} from "./opensora/training.ts";
export { loadAutoencoder as loadOpenSoraAutoencoder } from "./opensora/weights.ts";
export { fromBytes, resizeFrames, toBytes } from "./pixels.ts";
export type {
  DenoisingWatcher,
  Imagined,
  ImagineRequest,
  World,
  WorldMemory,
  WorldStart,
} from "./world.ts";
