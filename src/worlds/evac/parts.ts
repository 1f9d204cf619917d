/** What the training of EVAC worlds needs of the family: networks, sizes, losses and files. */
export { ActionPredictor, type PoseScale, restingHand } from "./action-predictor.ts";
export { type Camera, pinholeCamera } from "./camera.ts";
export { clipPicture } from "./clip-picture.ts";
export { type EvacDescription, evacDescription } from "./description.ts";
export { recalledFrames } from "./evac-world.ts";
export { evacFiles } from "./files.ts";
export { autoencoderSizes, EvacNetworks } from "./model.ts";
export { rayPlanes } from "./picture-stack.ts";
export { measureStatistics, type PoseStatistics, poseChange, relativeAction } from "./poses.ts";
export { beginAsIdentity, type WalkLesson, walk, walkLoss } from "./predictor-training.ts";
export { scheduleBuffers } from "./schedule-buffers.ts";
export { type EvacSizes, evacSizes } from "./sizes.ts";
export {
  drawVelocityLesson,
  lessonTables,
  type PoseWindowBatch,
  type VelocityLesson,
  type VelocityTraining,
  velocityLoss,
} from "./training.ts";
export { type Drawing, liberoDrawing, poseMaps } from "./trajectory.ts";
export { loadActionPredictor, publishedAutoencoder, readFirstStage, readsMotion } from "./weights.ts";
