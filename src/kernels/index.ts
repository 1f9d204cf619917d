/** CUDA kernels of our own, compiled when first used, with their gradients. The bricks of `nn` and the models call them. */
export { type AttentionSizes, fusedShortAttention, shortAttentionFits } from "./attention-gradient.ts";
export { recordedChannelNorm } from "./channel-norm-gradient.ts";
export { recordedGroupNorm, recordedGroupNormFits } from "./group-norm-gradient.ts";
export { frameAttentionFits, fusedFrameAttention, fusedHeadNorm, fusedRmsNormRotary } from "./heads.ts";
export { fusedChannelNorm, fusedGroupNorm, type GroupNormParts } from "./pictures.ts";
export { fusedRotatePairs } from "./rotate-gradient.ts";
export {
  fusedGatedGelu,
  fusedGatedSum,
  fusedModulatedNorm,
  fusedSumNorm,
  type Gate,
  type SumAndNorm,
} from "./rows.ts";
export { fusedJunction, type Junction, type RecordedTable } from "./rows-gradient.ts";
export { fusedNormTaps } from "./taps.ts";
export { fusedFrameTaps } from "./taps-gradient.ts";
export {
  type AddedAndNormed,
  fusedAddRmsNorm,
  fusedGatedSilu,
  fusedRmsNorm,
  fusedRotateHalves,
} from "./transformer.ts";
