/** How weights are trained, whoever trains them: AdamW, float32 masters, clipping, learning rates, and their state in files. */
export { AdamW, type AdamWOptions } from "./adamw.ts";
export { clipFactor, clipGradNorm } from "./clip.ts";
export { masterKey } from "./float32-masters.ts";
export { learningRateFactor, type RateFactor, warmUp } from "./learning-rate.ts";
export { asPart, partOfState } from "./named-state.ts";
export {
  type GradientStep,
  gradientsOf,
  portions,
  type WeightGroup,
  type WeightUpdate,
  WholeUpdate,
} from "./weight-update.ts";
