/**
 * The eyes of PaliGemma: SigLIP's vision transformer under the names of Hugging Face's class.
 *
 * Zhai et al. 2023, https://arxiv.org/abs/2303.15343. All layers are used and the final norm too, unlike in OpenVLA.
 * In half precision the patch and position embeddings stay float32, as in the reference.
 *
 * Shapes: X pictures, P patches, D width, S side in pixels.
 */
import {
  attention,
  Conv2d,
  Embedding,
  geluTanh,
  LayerNorm,
  Linear,
  Mlp,
  Module,
  type ModuleOptions,
  mergeHeads,
  splitHeads,
} from "#nn";
import type { Tensor } from "#tensor";
import type { VisionSizes } from "./config.ts";

const epsilon = 1e-6;

class SiglipAttention extends Module {
  readonly q_proj: Linear;
  readonly k_proj: Linear;
  readonly v_proj: Linear;
  readonly out_proj: Linear;
  readonly #heads: number;

  constructor({ hidden_size: width, num_attention_heads }: VisionSizes, options: ModuleOptions) {
    super();
    this.#heads = num_attention_heads;
    this.q_proj = new Linear(width, width, options);
    this.k_proj = new Linear(width, width, options);
    this.v_proj = new Linear(width, width, options);
    this.out_proj = new Linear(width, width, options);
  }

  forward(x_XPD: Tensor): Tensor {
    const [q, k, v] = [this.q_proj, this.k_proj, this.v_proj].map((layer) =>
      splitHeads(layer.forward(x_XPD), this.#heads),
    ) as [Tensor, Tensor, Tensor];
    return this.out_proj.forward(mergeHeads(attention(q, k, v)));
  }
}

export class SiglipLayer extends Module {
  readonly layer_norm1: LayerNorm;
  readonly self_attn: SiglipAttention;
  readonly layer_norm2: LayerNorm;
  readonly mlp: Mlp;

  constructor(sizes: VisionSizes, options: ModuleOptions) {
    super();
    const { hidden_size: width, intermediate_size: hidden } = sizes;
    this.layer_norm1 = new LayerNorm(width, { eps: epsilon, ...options });
    this.self_attn = new SiglipAttention(sizes, options);
    this.layer_norm2 = new LayerNorm(width, { eps: epsilon, ...options });
    this.mlp = new Mlp({ width, hidden, activation: geluTanh, ...options });
  }

  forward(x_XPD: Tensor): Tensor {
    const middle_XPD = x_XPD.add(this.self_attn.forward(this.layer_norm1.forward(x_XPD)));
    return middle_XPD.add(this.mlp.forward(this.layer_norm2.forward(middle_XPD)));
  }
}

export class SiglipVisionModel extends Module {
  readonly embeddings: { readonly patch_embedding: Conv2d; readonly position_embedding: Embedding };
  readonly encoder: { readonly layers: readonly SiglipLayer[] };
  readonly post_layernorm: LayerNorm;

  constructor(sizes: VisionSizes, options: ModuleOptions) {
    super();
    const { hidden_size: width, patch_size: patch, image_size: side } = sizes;
    const exact = { ...options, dtype: "float32" } as const;
    this.embeddings = {
      patch_embedding: new Conv2d(3, width, { kernel: patch, stride: patch, ...exact }),
      position_embedding: new Embedding((side / patch) ** 2, width, exact),
    };
    const layers = Array.from({ length: sizes.num_hidden_layers }, () => new SiglipLayer(sizes, options));
    this.encoder = { layers };
    this.post_layernorm = new LayerNorm(width, { eps: epsilon, ...options });
  }

  /** Pixels float32 [X, 3, S, S] to tokens [X, P, D] of the layers' type. */
  embed(pixels_XCSS: Tensor): Tensor {
    const { patch_embedding, position_embedding } = this.embeddings;
    const patches_XPD = patch_embedding.forward(pixels_XCSS).flatten(2).transpose(1, 2);
    return patches_XPD.add(position_embedding.weight).to({ dtype: this.post_layernorm.weight!.dtype });
  }

  forward(pixels_XCSS: Tensor): Tensor {
    const x_XPD = this.encoder.layers.reduce((x, layer) => layer.forward(x), this.embed(pixels_XCSS));
    return this.post_layernorm.forward(x_XPD);
  }
}
