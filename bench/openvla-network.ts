/**
 * The network that the policies bench measures: OpenVLA-OFT in its published size, or tiny for a machine without a
 * GPU, with random weights made on the device; and how many operations one forward pass of it is.
 *
 * Shapes: B batch, S all tokens, D width, K = 6 channels.
 */
import { initNormal } from "#nn";
import { type Device, type DType, Generator, noGrad, ones, randint, randn, type Tensor } from "#tensor";
import { OpenVlaOftModel } from "../src/policies/openvla-oft/model.ts";
import {
  type PrismaticConfig,
  parsePrismaticConfig,
  type VisionConfig,
} from "../src/policies/prismatic/config.ts";

export const actionTokens = 56; // 8 actions of 7 numbers
export const promptLength = 50; // S = 256 + 50 + 56 = 362

const tinyRaw = {
  timm_model_args: [
    { patch_size: 14, embed_dim: 32, depth: 3, num_heads: 2, reg_tokens: 4, init_values: 1 },
    {
      patch_size: 14,
      embed_dim: 48,
      depth: 4,
      num_heads: 3,
      mlp_ratio: 2,
      class_token: false,
      global_pool: "map",
    },
  ],
  image_sizes: [56, 56],
  pad_token_id: 900,
  text_config: {
    vocab_size: 964,
    hidden_size: 64,
    intermediate_size: 96,
    num_attention_heads: 4,
    num_hidden_layers: 2,
  },
};

/** `layers` shortens the language model. */
export function benchConfig(tiny: boolean, layers: number | undefined): PrismaticConfig {
  const raw: Record<string, unknown> = tiny ? tinyRaw : {};
  const text = { ...(tiny ? tinyRaw.text_config : {}), ...(layers && { num_hidden_layers: layers }) };
  return parsePrismaticConfig({ ...raw, text_config: text }, "the benchmark's sizes");
}

/** What the Python side needs to build the same network. */
export const sizesOf = ({ vision, text, imageSize, patches, actionBins, vocabulary }: PrismaticConfig) => ({
  vision,
  text,
  imageSize,
  patches,
  actionBins,
  vocabulary,
  promptLength,
});

export interface Place {
  readonly device: Device;
  readonly dtype: DType;
}

/** Matrices N(0, 0.02), everything else one. */
export function randomNetwork(config: PrismaticConfig, place: Place): OpenVlaOftModel {
  const shape = { variant: "rlinf", actionTokens, values: 0, proprio: 0, endId: 2 } as const;
  const module = new OpenVlaOftModel(config, shape, place);
  const generator = new Generator(1, place.device);
  for (const weight of module.parameters()) {
    if (weight.ndim > 1) initNormal(weight, 0.02, generator);
    else noGrad(() => weight.fill_(1));
  }
  return module;
}

export interface BenchInputs {
  readonly pixels_BKSS: Tensor;
  readonly ids_BL: Tensor;
  readonly mask_BL: Tensor;
}

export function randomInputs(config: PrismaticConfig, batch: number, { device, dtype }: Place): BenchInputs {
  const generator = new Generator(2, device);
  const { imageSize, vocabulary, actionBins } = config;
  const shape = [batch, promptLength];
  return {
    pixels_BKSS: randn([batch, 6, imageSize, imageSize], { generator, device, dtype }),
    ids_BL: randint(3, vocabulary - actionBins, shape, { generator, device }),
    mask_BL: ones(shape, { dtype: "bool", device }),
  };
}

/**
 * Floating-point operations of one sample's forward pass as we run it: two per weight and token in every matrix
 * product, and attention's two products. The last layer counts only for the positions that are read.
 */
export function forwardOperations({ vision, text, patches }: PrismaticConfig): number {
  const towers = vision.reduce((sum, tower) => sum + towerOperations(tower, patches), 0);
  const seen = vision[0].embed_dim + vision[1].embed_dim;
  const { hidden_size: D, intermediate_size: F, num_hidden_layers: layers } = text;
  const projector = 2 * patches * (seen * 4 * seen + 4 * seen * D + D * D);
  const S = patches + promptLength + actionTokens;
  const whole = 2 * S * (4 * D * D + 3 * D * F) + 4 * S * S * D;
  const last = 2 * S * 2 * D * D + 2 * actionTokens * (2 * D * D + 3 * D * F) + 4 * actionTokens * S * D;
  return towers + projector + (layers - 1) * whole + last + 2 * actionTokens * D * 256;
}

function towerOperations(
  { embed_dim: D, depth, mlp_ratio, patch_size, reg_tokens, class_token }: VisionConfig,
  patches: number,
) {
  const N = patches + reg_tokens + (class_token ? 1 : 0);
  const block = 2 * N * (4 * D * D + 2 * D * Math.trunc(D * mlp_ratio)) + 4 * N * N * D;
  return (depth - 1) * block + 2 * patches * 3 * patch_size ** 2 * D;
}
