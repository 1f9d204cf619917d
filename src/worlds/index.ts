/** World models: video generators that answer actions, each family behind the same contract. */

// For those who train worlds: the networks and their losses.
export { AutoencoderKL, type AutoencoderKLSizes } from "./autoencoder-kl/autoencoder-kl.ts";
export {
  type AutoencoderLesson,
  type AutoencoderTraining,
  autoencoderLoss,
  standardiseLatents,
} from "./autoencoder-kl/training.ts";
export { ActionPredictor, type PoseScale, restingHand } from "./evac/action-predictor.ts";
export { type Camera, pinholeCamera } from "./evac/camera.ts";
export { clipPicture } from "./evac/clip-picture.ts";
export { type EvacDescription, evacDescription } from "./evac/description.ts";
export { recalledFrames } from "./evac/evac-world.ts";
export { evacFiles } from "./evac/files.ts";
export { autoencoderSizes, EvacNetworks } from "./evac/model.ts";
export { rayPlanes } from "./evac/picture-stack.ts";
export { measureStatistics, type PoseStatistics, poseChange, relativeAction } from "./evac/poses.ts";
export { beginAsIdentity, type WalkLesson, walk, walkLoss } from "./evac/predictor-training.ts";
export { scheduleBuffers } from "./evac/schedule-buffers.ts";
export { type EvacSizes, evacSizes } from "./evac/sizes.ts";
export {
  drawVelocityLesson,
  lessonTables,
  type PoseWindowBatch,
  type VelocityLesson,
  type VelocityTraining,
  velocityLoss,
} from "./evac/training.ts";
export { type Drawing, liberoDrawing, poseMaps } from "./evac/trajectory.ts";
export { loadActionPredictor, publishedAutoencoder, readFirstStage, readsMotion } from "./evac/weights.ts";
export { envTypeOf, folderKeyOf, recognizeWorld, worlds } from "./families.ts";
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
export { type NamedRewardModel, namedRewardModel } from "./section-keys.ts";
export { WanDiT } from "./wan/model.ts";
export { downscaleOf, type WanSizes, wanSizes } from "./wan/sizes.ts";
export {
  drawLevelLesson,
  type LevelLesson,
  type LevelTraining,
  latentStatistics,
  levelLoss,
  type VideoLesson,
  type VideoTraining,
  videoAutoencoderLoss,
} from "./wan/training.ts";
export { WanVAE } from "./wan/vae.ts";
export { loadAutoencoder as loadWanAutoencoder, readWanSizes } from "./wan/weights.ts";
export type {
  DenoisingWatcher,
  Imagined,
  ImagineRequest,
  World,
  WorldMemory,
  WorldStart,
} from "./world.ts";
export { defineWorld, type FolderOptions, type WorldFamily, type WorldPlace } from "./world-family.ts";
