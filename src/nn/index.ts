/** The bricks that models are built from, with the field names of published checkpoints. */
export { gelu, geluTanh, quickGelu, silu } from "./activation.ts";
export { type AttentionOptions, attention, mergeHeads, splitHeads } from "./attention.ts";
export { type Body, CapturedForward, type CaptureLimits } from "./captured-forward.ts";
export { asLast, channelsLast, fromLast } from "./channels-last.ts";
export { Conv1d, Conv2d, Conv3d, type ConvOptions, convolutionsLast } from "./conv.ts";
export { GatedMlp, Mlp, type MlpOptions } from "./feed-forward.ts";
export {
  type AddedAndNormed,
  fusedAddRmsNorm,
  fusedGatedSilu,
  fusedRmsNorm,
  fusedRotateHalves,
} from "./fused.ts";
export {
  type AttentionSizes,
  fusedShortAttention,
  type ShortAttention,
  shortAttentionFits,
} from "./fused-attention-gradient.ts";
export { recordedChannelNorm } from "./fused-channel-norm-gradient.ts";
export { recordedGroupNorm, recordedGroupNormFits } from "./fused-group-norm-gradient.ts";
export {
  type FrameAttentionOptions,
  type FrameHeads,
  frameAttentionFits,
  fusedFrameAttention,
  fusedHeadNorm,
  fusedRmsNormRotary,
  type HeadNorm,
  type PairTable,
} from "./fused-heads.ts";
export { fusedChannelNorm, fusedGroupNorm } from "./fused-pictures.ts";
export { fusedRotatePairs } from "./fused-rotate-gradient.ts";
export {
  type Affine,
  fusedGatedGelu,
  fusedGatedSum,
  fusedModulatedNorm,
  fusedSumNorm,
  type Gate,
  type Modulation,
  type SumAndNorm,
} from "./fused-rows.ts";
export {
  fusedJunction,
  type Joined,
  type Junction,
  junctionFits,
  type RecordedTable,
} from "./fused-rows-gradient.ts";
export { fusedNormTaps } from "./fused-taps.ts";
export { type Before, fusedFrameTaps } from "./fused-taps-gradient.ts";
export { layerCount } from "./layer-count.ts";
export { Embedding, Linear, type LinearOptions } from "./linear.ts";
export { LoraConv2d, LoraLinear, type LoraOptions } from "./lora.ts";
export { type LoadOptions, Module, type ModuleOptions, type State } from "./module.ts";
export { GroupNorm, LayerNorm, type NormOptions, RMSNorm } from "./norm.ts";
export { buffer, constant, initNormal, initUniform, parameter } from "./parameter.ts";
export { PatchEmbedding, type PatchEmbeddingOptions } from "./patch-embedding.ts";
export { type RotaryTable, rotaryAngles, rotaryTable, rotateHalves, rotateInterleaved } from "./rotary.ts";
export { type TimestepOptions, timestepEmbedding } from "./timestep.ts";
