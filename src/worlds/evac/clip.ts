/**
 * The picture half of OpenCLIP's ViT-H/14, without its last norm and projection.
 *
 * Radford et al. 2021, https://arxiv.org/abs/2103.00020. The text half's weights that EVAC's checkpoints still
 * carry are kept under their names so that a file survives a round trip, and never run.
 *
 * Shapes: B pictures, L = 1 + 16·16 tokens, D width, H heads.
 */
import {
  attention,
  Conv2d,
  Embedding,
  gelu,
  LayerNorm,
  Linear,
  Module,
  type ModuleOptions,
  mergeHeads,
  parameter,
  splitHeads,
} from "#nn";
import { aten, cat, scope, type Tensor } from "#tensor";
import type { ClipSizes } from "./sizes.ts";

const patch = 14;
const side = 224 / patch;
/** ViT-H/14 has 16 heads of 80; configs of other sizes say theirs. */
const publishedHeads = 16;

class FusedAttention extends Module {
  readonly in_proj_weight: Tensor;
  readonly in_proj_bias: Tensor;
  readonly out_proj: Linear;
  readonly #heads: number;

  constructor(width: number, heads: number, options: ModuleOptions) {
    super();
    this.in_proj_weight = parameter([3 * width, width], options);
    this.in_proj_bias = parameter([3 * width], options);
    this.out_proj = new Linear(width, width, options);
    this.#heads = heads;
  }

  forward(x_BLD: Tensor): Tensor {
    const qkv = aten.linear(x_BLD, this.in_proj_weight, this.in_proj_bias).chunk(3, 2);
    const [q, k, v] = qkv.map((x) => splitHeads(x.contiguous(), this.#heads));
    return this.out_proj.forward(mergeHeads(attention(q!, k!, v!)));
  }
}

class ClipBlock extends Module {
  readonly ln_1: LayerNorm;
  readonly attn: FusedAttention;
  readonly ln_2: LayerNorm;
  readonly mlp: { readonly c_fc: Linear; readonly c_proj: Linear };

  constructor(width: number, heads: number, options: ModuleOptions) {
    super();
    this.ln_1 = new LayerNorm(width, options);
    this.attn = new FusedAttention(width, heads, options);
    this.ln_2 = new LayerNorm(width, options);
    this.mlp = { c_fc: new Linear(width, 4 * width, options), c_proj: new Linear(4 * width, width, options) };
  }

  forward(x_BLD: Tensor): Tensor {
    const x = x_BLD.add(this.attn.forward(this.ln_1.forward(x_BLD)));
    return x.add(this.mlp.c_proj.forward(gelu(this.mlp.c_fc.forward(this.ln_2.forward(x)))));
  }
}

class ClipVisual extends Module {
  readonly class_embedding: Tensor;
  readonly positional_embedding: Tensor;
  readonly proj: Tensor; // unused
  readonly conv1: Conv2d;
  readonly ln_pre: LayerNorm;
  readonly transformer: { readonly resblocks: readonly ClipBlock[] };
  readonly ln_post: LayerNorm; // unused

  constructor({ width, layers, heads, text_width }: ClipSizes, options: ModuleOptions) {
    super();
    const split = heads ?? publishedHeads;
    this.class_embedding = parameter([width], options);
    this.positional_embedding = parameter([side * side + 1, width], options);
    this.proj = parameter([width, text_width], options);
    this.conv1 = new Conv2d(3, width, { kernel: patch, stride: patch, bias: false, ...options });
    this.ln_pre = new LayerNorm(width, options);
    this.transformer = {
      resblocks: Array.from({ length: layers }, () => new ClipBlock(width, split, options)),
    };
    this.ln_post = new LayerNorm(width, options);
  }

  forward(pictures_B3HW: Tensor): Tensor {
    const patches = this.conv1.forward(pictures_B3HW).flatten(2).transpose(1, 2);
    const [batch = 0, , width = 0] = patches.shape;
    const start = this.class_embedding.view([1, 1, width]).expand([batch, 1, width]);
    let x_BLD = this.ln_pre.forward(cat([start, patches], 1).add(this.positional_embedding));
    for (const block of this.transformer.resblocks) x_BLD = scope(() => block.forward(x_BLD));
    return x_BLD;
  }
}

export class OpenClip extends Module {
  readonly positional_embedding: Tensor; // of text, unused, like all but `visual`
  readonly text_projection: Tensor;
  readonly logit_scale: Tensor;
  readonly visual: ClipVisual;
  readonly token_embedding: Embedding;
  readonly ln_final: LayerNorm;

  constructor(sizes: ClipSizes, options: ModuleOptions = {}) {
    super();
    const { text_width, context_length, vocabulary } = sizes;
    this.positional_embedding = parameter([context_length, text_width], options);
    this.text_projection = parameter([text_width, text_width], options);
    this.logit_scale = parameter([], options);
    this.visual = new ClipVisual(sizes, options);
    this.token_embedding = new Embedding(vocabulary, text_width, options);
    this.ln_final = new LayerNorm(text_width, options);
  }

  /** Tokens of prepared pictures, [B, L, D]. */
  forward(pictures_B3HW: Tensor): Tensor {
    return this.visual.forward(pictures_B3HW);
  }
}
