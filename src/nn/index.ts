/** The bricks that models are built from, with the field names of published checkpoints. */
export { gelu, geluTanh, silu } from "./activation.ts";
export { attention, mergeHeads, splitHeads } from "./attention.ts";
export { CapturedForward } from "./captured-forward.ts";
export { asLast, channelsLast, fromLast } from "./channels-last.ts";
export { Conv1d, Conv2d, Conv3d, convolutionsLast } from "./conv.ts";
export { GatedMlp, Mlp } from "./feed-forward.ts";
export { layerCount } from "./layer-count.ts";
export { Embedding, Linear } from "./linear.ts";
export { LoraConv2d, LoraLinear } from "./lora.ts";
export { Module, type ModuleOptions } from "./module.ts";
export { GroupNorm, LayerNorm, RMSNorm } from "./norm.ts";
export { buffer, constant, initNormal, initUniform, parameter } from "./parameter.ts";
export { PatchEmbedding } from "./patch-embedding.ts";
export { type RotaryTable, rotaryTable, rotateHalves, rotateInterleaved } from "./rotary.ts";
export { timestepEmbedding } from "./timestep.ts";
