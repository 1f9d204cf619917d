/** World models: video generators that answer actions, each family behind the same contract. */

export { type WorldFamily, worlds } from "./families.ts";
export { inMicroBatches } from "./micro-batch.ts";
export { FixedSeedNoise, type NoisePurpose, type NoiseSource, SlotNoise } from "./noise.ts";
export { fromBytes, resizeFrames, toBytes } from "./pixels.ts";
export type {
  DenoisingWatcher,
  Imagined,
  ImagineRequest,
  World,
  WorldMemory,
  WorldStart,
} from "./world.ts";
