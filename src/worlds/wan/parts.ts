/** What the training of Wan worlds needs of the family: networks, sizes, losses and files. */
export { WanDiT } from "./model.ts";
export { downscaleOf, type WanSizes, wanSizes } from "./sizes.ts";
export {
  drawLevelLesson,
  type LevelLesson,
  type LevelTraining,
  latentStatistics,
  levelLoss,
  type VideoLesson,
  type VideoTraining,
  videoAutoencoderLoss,
} from "./training.ts";
export { WanVAE } from "./vae.ts";
export { loadAutoencoder, readWanSizes } from "./weights.ts";
