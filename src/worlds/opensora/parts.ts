/** What the training of OpenSora worlds needs of the family: networks, sizes, losses and files. */
export { STDiT3 } from "./model.ts";
export { type STDiT3Sizes, stdit3Sizes } from "./sizes.ts";
export {
  drawFlowLesson,
  type FlowLesson,
  type FlowTraining,
  flowLoss,
  type WindowBatch,
} from "./training.ts";
export { loadAutoencoder } from "./weights.ts";
