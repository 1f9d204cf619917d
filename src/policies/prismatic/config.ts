/**
 * The `config.json` of an OpenVLA-like checkpoint, checked and completed.
 *
 * Published files leave out whatever equals a default of the reference's classes (the language model's
 * sizes, the vision towers' sizes), so the defaults are written down here. Small models of the same
 * format state their vision towers in `timm_model_args`, an extension of ours.
 */
import { z } from "zod";
import { layerCount } from "#nn";
import { ownEntry, UserError } from "#registry";

/** One vision tower, in the words of timm's VisionTransformer. */
const visionSchema = z.looseObject({
  patch_size: z.int().positive(),
  embed_dim: z.int().positive(),
  depth: layerCount.min(2),
  num_heads: z.int().positive(),
  mlp_ratio: z.number().positive().default(4),
  reg_tokens: z.int().min(0).default(0),
  init_values: z.number().nullish().describe("LayerScale's first value; absent means no LayerScale"),
  class_token: z.boolean().default(true),
  global_pool: z.string().default("token"),
  no_embed_class: z.literal(true).default(true).describe("position embeddings cover patches only"),
});
export type VisionConfig = z.infer<typeof visionSchema>;

/** Llama's sizes; the defaults are those of Llama-2 7B. */
const textSchema = z.looseObject({
  vocab_size: z.int().positive().default(32064),
  hidden_size: z.int().positive().default(4096),
  intermediate_size: z.int().positive().default(11008),
  num_hidden_layers: layerCount.default(32),
  num_attention_heads: z.int().positive().default(32),
  num_key_value_heads: z.int().positive().nullish(),
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().default(10000),
  rope_scaling: z.null().optional(),
  hidden_act: z.literal("silu").default("silu"),
  attention_bias: z.literal(false).default(false),
  max_position_embeddings: z.int().positive().default(2048),
  pad_token_id: z.int().nullish(),
  bos_token_id: z.int().nullish(),
  eos_token_id: z.int().nullish(),
});
export type TextConfig = z.infer<typeof textSchema>;

/** Minimum, maximum and quantiles of each dimension of a dataset's actions or states. */
const statisticsSchema = z.looseObject({
  q01: z.array(z.number()),
  q99: z.array(z.number()),
  min: z.array(z.number()).optional(),
  max: z.array(z.number()).optional(),
  mask: z.array(z.boolean()).optional(),
});
export type Statistics = z.infer<typeof statisticsSchema>;

export const normStatsSchema = z.record(
  z.string(),
  z.looseObject({ action: statisticsSchema, proprio: statisticsSchema.optional() }),
);
export type NormStats = z.infer<typeof normStatsSchema>;

const configSchema = z.looseObject({
  model_type: z.enum(["openvla", "prismatic"]).default("openvla"),
  use_fused_vision_backbone: z.literal(true).default(true),
  timm_model_ids: z.array(z.string()).length(2).optional(),
  timm_model_args: z.array(visionSchema).length(2).optional(),
  timm_override_act_layers: z.array(z.null()).length(2).optional(),
  image_sizes: z.array(z.int().positive()).length(2).default([224, 224]),
  image_resize_strategy: z.literal("resize-naive").default("resize-naive"),
  arch_specifier: z.literal("no-align+fused-gelu-mlp").default("no-align+fused-gelu-mlp"),
  n_action_bins: z.int().min(2).default(256),
  pad_token_id: z.int().default(32000),
  pad_to_multiple_of: z.int().min(0).default(64),
  norm_stats: normStatsSchema.nullish(),
  text_config: textSchema.default(textSchema.parse({})),
  use_film: z.boolean().nullish(),
});
type RawConfig = z.infer<typeof configSchema>;

export interface PrismaticConfig {
  readonly vision: readonly [VisionConfig, VisionConfig];
  readonly text: TextConfig;
  /** Side of the square picture each tower sees, in pixels. */
  readonly imageSize: number;
  /** Tokens that one picture becomes. */
  readonly patches: number;
  readonly actionBins: number;
  readonly padTokenId: number;
  /** Ids in [vocabulary − actionBins, vocabulary) are action tokens. */
  readonly vocabulary: number;
  readonly normStats: NormStats;
  readonly useFilm: boolean;
  /** Everything in the file, to be written back unchanged. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const publishedTowers: Record<string, VisionConfig> = {
  "vit_large_patch14_reg4_dinov2.lvd142m": visionSchema.parse({
    patch_size: 14,
    embed_dim: 1024,
    depth: 24,
    num_heads: 16,
    reg_tokens: 4,
    init_values: 1e-5,
  }),
  vit_so400m_patch14_siglip_224: visionSchema.parse({
    patch_size: 14,
    embed_dim: 1152,
    depth: 27,
    num_heads: 16,
    mlp_ratio: 3.7362,
    class_token: false,
    global_pool: "map",
  }),
};
const publishedIds = Object.keys(publishedTowers);

/** `origin` names the file in errors; `statistics` is dataset_statistics.json, which wins over the config. */
export function parsePrismaticConfig(raw: unknown, origin: string, statistics?: unknown): PrismaticConfig {
  const parsed = checked(configSchema, raw, origin);
  const vision = towersOf(parsed, origin);
  const extra =
    statistics === undefined ? {} : checked(normStatsSchema, statistics, "dataset_statistics.json");
  return {
    vision,
    text: checkText(parsed.text_config, origin),
    imageSize: checkImageSize(parsed.image_sizes, vision, origin),
    patches: (parsed.image_sizes[0]! / vision[0].patch_size) ** 2,
    actionBins: parsed.n_action_bins,
    padTokenId: parsed.pad_token_id,
    vocabulary: parsed.text_config.vocab_size - parsed.pad_to_multiple_of,
    normStats: { ...parsed.norm_stats, ...extra },
    useFilm: parsed.use_film ?? false,
    raw: raw as Record<string, unknown>,
  };
}

function checked<S extends z.ZodType>(schema: S, raw: unknown, origin: string): z.infer<S> {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  throw new UserError(
    `${origin} is not a configuration this policy understands:\n${z.prettifyError(result.error)}`,
  );
}

function towersOf(config: RawConfig, origin: string): readonly [VisionConfig, VisionConfig] {
  if (config.timm_model_args) return [config.timm_model_args[0]!, config.timm_model_args[1]!];
  const [first, second] = (config.timm_model_ids ?? publishedIds).map((id) => {
    const tower = ownEntry(publishedTowers, id);
    if (tower) return tower;
    throw new UserError(
      `${origin}: vision tower "${id}" is unknown; known: ${publishedIds.join(", ")}; ` +
        "describe another one in timm_model_args",
    );
  });
  return [first!, second!];
}

function checkText(text: TextConfig, origin: string): TextConfig {
  if (text.hidden_size % text.num_attention_heads !== 0) {
    throw new UserError(
      `${origin}: hidden_size ${text.hidden_size} is not a multiple of num_attention_heads ${text.num_attention_heads}`,
    );
  }
  return text;
}

function checkImageSize(sizes: readonly number[], towers: readonly VisionConfig[], origin: string): number {
  const grids = towers.map((tower, i) => sizes[i]! / tower.patch_size);
  if (sizes[0] !== sizes[1] || grids[0] !== grids[1] || !Number.isInteger(grids[0])) {
    throw new UserError(
      `${origin}: image_sizes ${sizes.join(" and ")} with patch sizes ` +
        `${towers.map((tower) => tower.patch_size).join(" and ")} do not give both towers the same whole grid`,
    );
  }
  return sizes[0]!;
}
