/**
 * The two vision towers of a Prismatic model: DINOv2 with registers and SigLIP, as timm builds them.
 *
 * Dosovitskiy et al., https://arxiv.org/abs/2010.11929; registers: https://arxiv.org/abs/2309.16588.
 * OpenVLA reads the second last block, without the final norm. The last block, `norm` and `attn_pool` are
 * therefore kept, so that a checkpoint is written back whole, but never computed.
 *
 * Shapes: B pictures, P patches, N tokens (P and the prefix), D width, H heads, S side in pixels.
 */
import {
  attention,
  LayerNorm,
  Linear,
  Mlp,
  Module,
  type ModuleOptions,
  mergeHeads,
  PatchEmbedding,
  parameter,
} from "#nn";
import { aten, cat, scope, type Tensor } from "#tensor";
import type { VisionConfig } from "./config.ts";

const epsilon = 1e-6;

class Attention extends Module {
  readonly qkv: Linear;
  readonly proj: Linear;
  readonly #heads: number;

  constructor(width: number, heads: number, options: ModuleOptions) {
    super();
    this.#heads = heads;
    this.qkv = new Linear(width, 3 * width, options);
    this.proj = new Linear(width, width, options);
  }

  forward(x_BND: Tensor): Tensor {
    const [B = 0, N = 0, D = 0] = x_BND.shape;
    const qkv_3BHND = this.qkv
      .forward(x_BND)
      .view([B, N, 3, this.#heads, D / this.#heads])
      .permute([2, 0, 3, 1, 4]);
    const [q, k, v] = qkv_3BHND.unbind(0) as [Tensor, Tensor, Tensor];
    return this.proj.forward(mergeHeads(attention(q, k, v)));
  }
}

/** A learned scale per channel on a residual branch. timm calls the weight `gamma`; OpenVLA renamed it. */
class LayerScale extends Module {
  readonly scale_factor: Tensor;

  constructor(width: number, options: ModuleOptions) {
    super();
    this.scale_factor = parameter([width], options);
  }

  /** x + scale · branch */
  addTo(x_BND: Tensor, branch_BND: Tensor): Tensor {
    return aten.addcmul(x_BND, branch_BND, this.scale_factor);
  }
}

export class VisionBlock extends Module {
  readonly norm1: LayerNorm;
  readonly attn: Attention;
  readonly ls1: LayerScale | undefined;
  readonly norm2: LayerNorm;
  readonly mlp: Mlp;
  readonly ls2: LayerScale | undefined;

  constructor({ embed_dim, num_heads, mlp_ratio, init_values }: VisionConfig, options: ModuleOptions) {
    super();
    const scaled = init_values !== undefined && init_values !== null;
    this.norm1 = new LayerNorm(embed_dim, { eps: epsilon, ...options });
    this.attn = new Attention(embed_dim, num_heads, options);
    this.ls1 = scaled ? new LayerScale(embed_dim, options) : undefined;
    this.norm2 = new LayerNorm(embed_dim, { eps: epsilon, ...options });
    this.mlp = new Mlp({ width: embed_dim, hidden: Math.trunc(embed_dim * mlp_ratio), ...options });
    this.ls2 = scaled ? new LayerScale(embed_dim, options) : undefined;
  }

  forward(x_BND: Tensor): Tensor {
    const middle = scope(() => {
      const attended = this.attn.forward(this.norm1.forward(x_BND));
      return this.ls1?.addTo(x_BND, attended) ?? x_BND.add(attended);
    });
    return scope(() => {
      const thought = this.mlp.forward(this.norm2.forward(middle));
      return this.ls2?.addTo(middle, thought) ?? middle.add(thought);
    });
  }
}

/** SigLIP's pooling head: in the file, never computed here. */
class AttentionPool extends Module {
  readonly latent: Tensor;
  readonly q: Linear;
  readonly kv: Linear;
  readonly proj: Linear;
  readonly norm: LayerNorm;
  readonly mlp: Mlp;

  constructor({ embed_dim, mlp_ratio }: VisionConfig, options: ModuleOptions) {
    super();
    this.latent = parameter([1, 1, embed_dim], options);
    this.q = new Linear(embed_dim, embed_dim, options);
    this.kv = new Linear(embed_dim, 2 * embed_dim, options);
    this.proj = new Linear(embed_dim, embed_dim, options);
    this.norm = new LayerNorm(embed_dim, { eps: epsilon, ...options });
    this.mlp = new Mlp({ width: embed_dim, hidden: Math.trunc(embed_dim * mlp_ratio), ...options });
  }
}

export class VisionTransformer extends Module {
  readonly cls_token: Tensor | undefined;
  readonly reg_token: Tensor | undefined;
  readonly pos_embed: Tensor;
  readonly patch_embed: PatchEmbedding;
  readonly blocks: readonly VisionBlock[];
  readonly norm: LayerNorm;
  readonly attn_pool: AttentionPool | undefined;

  constructor(config: VisionConfig, patches: number, options: ModuleOptions) {
    super();
    const { embed_dim, reg_tokens } = config;
    this.cls_token = config.class_token ? parameter([1, 1, embed_dim], options) : undefined;
    this.reg_token = reg_tokens > 0 ? parameter([1, reg_tokens, embed_dim], options) : undefined;
    this.pos_embed = parameter([1, patches, embed_dim], options);
    this.patch_embed = new PatchEmbedding({ patch: config.patch_size, width: embed_dim, ...options });
    this.blocks = Array.from({ length: config.depth }, () => new VisionBlock(config, options));
    this.norm = new LayerNorm(embed_dim, { eps: epsilon, ...options });
    this.attn_pool = config.global_pool === "map" ? new AttentionPool(config, options) : undefined;
  }

  /** The blocks whose output is read: all but the last. */
  get usedBlocks(): readonly VisionBlock[] {
    return this.blocks.slice(0, -1);
  }

  /** Pixels to tokens: positions are added to patches only, then the prefix is put in front. */
  embed(pixels_BCSS: Tensor): Tensor {
    const patches_BPD = this.patch_embed.forward(pixels_BCSS).add(this.pos_embed);
    const prefix = [this.cls_token, this.reg_token].filter((token) => token !== undefined);
    if (prefix.length === 0) return patches_BPD;
    const [B = 0] = patches_BPD.shape;
    return cat([...prefix.map((token) => token.expand([B, -1, -1])), patches_BPD], 1);
  }

  /** Drops the prefix: tokens [B, N, D] to patch features [B, P, D]. */
  features(x_BND: Tensor): Tensor {
    const prefix = (this.cls_token ? 1 : 0) + (this.reg_token?.shape[1] ?? 0);
    return prefix === 0 ? x_BND : x_BND.slice(1, prefix);
  }

  forward(pixels_BCSS: Tensor): Tensor {
    const x_BND = this.usedBlocks.reduce((x, block) => block.forward(x), this.embed(pixels_BCSS));
    return this.features(x_BND);
  }
}
