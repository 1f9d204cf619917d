/**
 * A new, untrained checkpoint in the OpenVLA-OFT layout, small enough for two CPU cores.
 *
 * Same files, names and code path as the published 7.5-billion-parameter model; only sizes and ids differ. It
 * brings its own tokenizer, trained on the sentences it will hear. What made such a small model learn at all (tried,
 * see docs/policies.md): a 2-D sine table for positions instead of noise, LayerScale at 1 instead of 1e-5, patch
 * filters of unit gain, and at least four language layers, because the placeholders are identical until the second.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile, writeSafetensors } from "#formats";
import { initNormal, initUniform, type Module } from "#nn";
import { Generator, noGrad, scope, type Tensor, tensor } from "#tensor";
import type { FreshCheckpoint, FreshOptions } from "../policy.ts";
import { type NormStats, type PrismaticConfig, parsePrismaticConfig } from "../prismatic/config.ts";
import { publishedNormalization } from "../prismatic/images.ts";
import { promptFor } from "../prismatic/prompts.ts";
import { trainTokenizer } from "../prismatic/train-tokenizer.ts";
import { OpenVlaOftModel } from "./model.ts";

/** The model that ships in checkpoints/: 3.9 million parameters, 7.9 MB in bfloat16. */
export const miniSizes = {
  image_size: 64,
  patch_size: 8,
  vision_width: 128,
  vision_depths: [4, 3], // of each tower the last block is never computed
  vision_heads: 4,
  text_width: 192,
  text_hidden: 448,
  text_layers: 4,
  text_heads: 4,
  /** Ids below the action ids are for words. */
  vocabulary: 896,
  action_bins: 256,
};
export type MiniSizes = { readonly [K in keyof typeof miniSizes]: (typeof miniSizes)[K] };

export interface MiniOptions extends FreshOptions {
  readonly normStats: NormStats;
  readonly sizes?: Partial<MiniSizes>;
}

/** `reverie sft --new mini`. */
export const miniCheckpoint: FreshCheckpoint = {
  sizes: miniSizes,
  write: (folder, { sizes, normStats, ...options }) =>
    writeFreshCheckpoint(folder, {
      ...options,
      normStats: normStats as NormStats,
      sizes: sizes as Partial<MiniSizes>,
    }),
};

/** Writes config, tokenizer, preprocessor, statistics and random weights. */
export function writeFreshCheckpoint(folder: string, options: MiniOptions): void {
  const sizes = { ...miniSizes, ...options.sizes };
  const raw = configOf(sizes, options);
  const config = parsePrismaticConfig(raw, "the new model's sizes");
  mkdirSync(folder, { recursive: true });
  writeJsonFile(join(folder, "config.json"), raw);
  writeJsonFile(join(folder, "dataset_statistics.json"), options.normStats);
  writeJsonFile(join(folder, "preprocessor_config.json"), preprocessorOf(sizes));
  const pieces = sizes.vocabulary - sizes.action_bins;
  writeJsonFile(join(folder, "tokenizer.json"), trainTokenizer(options.tasks.map(promptFor), pieces));
  writeJsonFile(join(folder, "tokenizer_config.json"), {
    tokenizer_class: "LlamaTokenizer",
    bos_token: "<s>",
    eos_token: "</s>",
    unk_token: "<unk>",
    add_bos_token: true,
  });
  scope(() => {
    const module = freshModule(config, new Generator(options.seed));
    writeSafetensors(join(folder, "model.safetensors"), module.state(), { format: "pt" });
  });
}

function configOf(sizes: MiniSizes, { normStats, unnormKey }: MiniOptions): Record<string, unknown> {
  const tower = {
    patch_size: sizes.patch_size,
    embed_dim: sizes.vision_width,
    num_heads: sizes.vision_heads,
  };
  const padId = sizes.vocabulary; // the first id after the action ids
  return {
    model_type: "openvla",
    architectures: ["OpenVLAForActionPrediction"],
    vision_backbone_id: "dinosiglip-vit-so-224px",
    llm_backbone_id: "llama2-7b-pure",
    arch_specifier: "no-align+fused-gelu-mlp",
    use_fused_vision_backbone: true,
    timm_model_ids: ["vit_mini_reg4_dinov2", "vit_mini_siglip"],
    timm_model_args: [
      { ...tower, depth: sizes.vision_depths[0], reg_tokens: 4, init_values: 1, no_embed_class: true },
      { ...tower, depth: sizes.vision_depths[1], class_token: false, global_pool: "" },
    ],
    timm_override_act_layers: [null, null],
    image_sizes: [sizes.image_size, sizes.image_size],
    image_resize_strategy: "resize-naive",
    n_action_bins: sizes.action_bins,
    pad_token_id: padId,
    pad_to_multiple_of: 64,
    unnorm_key: unnormKey,
    norm_stats: normStats,
    torch_dtype: "bfloat16",
    text_config: {
      model_type: "llama",
      vocab_size: sizes.vocabulary + 64,
      hidden_size: sizes.text_width,
      intermediate_size: sizes.text_hidden,
      num_hidden_layers: sizes.text_layers,
      num_attention_heads: sizes.text_heads,
      num_key_value_heads: sizes.text_heads,
      rms_norm_eps: 1e-6,
      pad_token_id: padId,
      bos_token_id: 1,
      eos_token_id: 2,
      torch_dtype: "bfloat16",
    },
  };
}

function preprocessorOf({ image_size: side }: MiniSizes): Record<string, unknown> {
  const twice = <T>(value: T): T[] => [value, value];
  return {
    image_processor_type: "PrismaticImageProcessor",
    use_fused_vision_backbone: true,
    image_resize_strategy: "resize-naive",
    input_sizes: twice([3, side, side]),
    interpolations: twice("bicubic"),
    means: publishedNormalization.map(({ mean }) => mean),
    stds: publishedNormalization.map(({ std }) => std),
    tvf_resize_params: twice({ size: [side, side], interpolation: 3, max_size: null, antialias: true }),
    tvf_crop_params: twice({ output_size: [side, side] }),
    tvf_normalize_params: publishedNormalization.map((constants) => ({ ...constants, inplace: false })),
    tvf_do_letterbox: false,
    tvf_letterbox_fill: null,
  };
}

/** Random weights, the same on every machine for the same seed: drawn on the CPU in the order of names. */
export function freshModule(config: PrismaticConfig, generator: Generator): OpenVlaOftModel {
  const shape = { variant: "rlinf", actionTokens: 1, values: 0, proprio: 0, endId: 2 } as const;
  const module = new OpenVlaOftModel(config, shape);
  initialize(module, generator);
  return module;
}

function initialize(module: Module, generator: Generator): void {
  for (const [name, weight] of module.namedParameters()) {
    if (name.endsWith("pos_embed")) noGrad(() => weight.copy_(sineTable(weight.size(1), weight.size(2))));
    else if (/(cls_token|reg_token|latent)$/.test(name)) initNormal(weight, 0.02, generator);
    else if (name.endsWith("embed_tokens.weight")) initNormal(weight, 0.5, generator);
    else if (name.endsWith("patch_embed.proj.weight"))
      initNormal(weight, 1 / Math.sqrt(fanIn(weight)), generator);
    else if (name.endsWith("scale_factor")) noGrad(() => weight.fill_(1));
    else if (weight.ndim > 1) initUniform(weight, 1 / Math.sqrt(fanIn(weight)), generator);
    // norms begin at one and biases at zero, as their constructors leave them
  }
}

const fanIn = (weight: Tensor): number => weight.numel / weight.size(0);

/** Positions on a square grid as sines and cosines of x in one half and of y in the other: [1, patches, width]. */
function sineTable(patches: number, width: number): Tensor {
  const side = Math.sqrt(patches);
  const frequencies = width / 4;
  const table = new Float32Array(patches * width);
  for (let p = 0; p < patches; p++) {
    for (const [half, place] of [p % side, Math.floor(p / side)].entries()) {
      for (let k = 0; k < frequencies; k++) {
        const angle = place / 10000 ** (k / frequencies);
        const at = p * width + half * (width / 2) + k;
        table[at] = Math.sin(angle);
        table[at + frequencies] = Math.cos(angle);
      }
    }
  }
  return tensor(table, { shape: [1, patches, width] });
}
