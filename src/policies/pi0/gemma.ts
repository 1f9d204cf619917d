/**
 * Gemma's layers in the form that π0 needs: split open at attention, because two towers share it.
 *
 * Gemma Team 2024, https://arxiv.org/abs/2403.08295. A layer answers with its queries, keys and values, and later
 * takes what attention made of them; who looks at whom is decided outside (towers.ts). In π0.5 the norms are
 * adaptive: scale, shift and the gate of the residual come from the time of denoising, as in DiT
 * (https://arxiv.org/abs/2212.09748). Norms are computed and stored in float32 whatever the layers' type.
 *
 * Shapes: B batch, L tokens, D width, N heads, H head width.
 */
import {
  constant,
  GatedMlp,
  geluTanh,
  Linear,
  Module,
  type ModuleOptions,
  mergeHeads,
  type RotaryTable,
  rotateHalves,
  splitHeads,
} from "#nn";
import type { Tensor } from "#tensor";
import type { GemmaSizes } from "./config.ts";

const epsilon = 1e-6;

/** What a norm answers: the normalized input and, where adaptive, the gate of the branch that follows. */
interface Normed {
  readonly x_BLD: Tensor;
  readonly gate_B1D?: Tensor | undefined;
}

const unitScale = (x: Tensor): Tensor => {
  const wide = x.float();
  return wide.mul(wide.square().mean(-1, true).add(epsilon).rsqrt());
};

/** x / rms(x) · (1 + weight): Gemma's weights are offsets from one. */
class GemmaNorm extends Module {
  weight: Tensor;

  constructor(width: number, options: ModuleOptions) {
    super();
    this.weight = constant([width], 0, { ...options, dtype: "float32" });
  }

  forward(x_BLD: Tensor): Normed {
    return { x_BLD: unitScale(x_BLD).mul(this.weight.float().add(1)).to({ dtype: x_BLD.dtype }) };
  }
}

class AdaptiveNorm extends Module {
  readonly dense: Linear;

  constructor(width: number, options: ModuleOptions) {
    super();
    this.dense = new Linear(width, 3 * width, { ...options, dtype: "float32" });
  }

  forward(x_BLD: Tensor, condition_BD?: Tensor): Normed {
    if (!condition_BD) throw new Error("internal: an adaptive norm needs a condition");
    const { dtype } = x_BLD;
    const modulation_B13D = this.dense.forward(condition_BD.float()).unsqueeze(1);
    const [scale, shift, gate] = modulation_B13D.chunk(3, -1) as [Tensor, Tensor, Tensor];
    const normed = unitScale(x_BLD).mul(scale.add(1)).add(shift);
    return { x_BLD: normed.to({ dtype }), gate_B1D: gate.to({ dtype }) };
  }
}

type Norm = GemmaNorm | AdaptiveNorm;

const normOf = (width: number, adaptive: boolean, options: ModuleOptions): Norm =>
  adaptive ? new AdaptiveNorm(width, options) : new GemmaNorm(width, options);

const residual = (x_BLD: Tensor, y_BLD: Tensor, gate_B1D: Tensor | undefined): Tensor =>
  x_BLD.add(gate_B1D ? y_BLD.mul(gate_B1D) : y_BLD);

class GemmaAttention extends Module {
  readonly q_proj: Linear;
  readonly k_proj: Linear;
  readonly v_proj: Linear;
  readonly o_proj: Linear;
  readonly #heads: number;
  readonly #keyHeads: number;

  constructor(sizes: GemmaSizes, options: ModuleOptions) {
    super();
    const { width, num_heads, num_kv_heads, head_dim } = sizes;
    const plain = { ...options, bias: false };
    this.q_proj = new Linear(width, num_heads * head_dim, plain);
    this.k_proj = new Linear(width, num_kv_heads * head_dim, plain);
    this.v_proj = new Linear(width, num_kv_heads * head_dim, plain);
    this.o_proj = new Linear(num_heads * head_dim, width, plain);
    this.#heads = num_heads;
    this.#keyHeads = num_kv_heads;
  }

  queries(x_BLD: Tensor, rotation: RotaryTable): Tensor {
    return rotateHalves(splitHeads(this.q_proj.forward(x_BLD), this.#heads), rotation);
  }

  /** Keys are turned to their positions; both [B, key heads, L, H]. */
  keysAndValues(x_BLD: Tensor, rotation: RotaryTable): KeysAndValues {
    return {
      keys: rotateHalves(splitHeads(this.k_proj.forward(x_BLD), this.#keyHeads), rotation),
      values: splitHeads(this.v_proj.forward(x_BLD), this.#keyHeads),
    };
  }

  /** Each group of query heads shares one head of keys: a view, not a copy, when there is one. */
  spread(x_BKLH: Tensor): Tensor {
    const [B = 0, K = 0, L = 0, H = 0] = x_BKLH.shape;
    const each = this.#heads / K;
    if (K === 1) return x_BKLH.expand([B, each, L, H]);
    return x_BKLH.unsqueeze(2).expand([B, K, each, L, H]).reshape([B, this.#heads, L, H]);
  }
}

export interface KeysAndValues {
  readonly keys: Tensor;
  readonly values: Tensor;
}

/** A layer's input, made ready for attention. */
export interface Prepared extends KeysAndValues {
  readonly queries: Tensor;
  readonly gate_B1D: Tensor | undefined;
}

export class GemmaLayer extends Module {
  readonly self_attn: GemmaAttention;
  readonly mlp: GatedMlp;
  readonly input_layernorm: Norm;
  readonly post_attention_layernorm: Norm;

  constructor(sizes: GemmaSizes, adaptive: boolean, options: ModuleOptions) {
    super();
    const { width, mlp_dim: hidden } = sizes;
    this.self_attn = new GemmaAttention(sizes, options);
    this.mlp = new GatedMlp({ width, hidden, activation: geluTanh, ...options });
    this.input_layernorm = normOf(width, adaptive, options);
    this.post_attention_layernorm = normOf(width, adaptive, options);
  }

  prepare(x_BLD: Tensor, rotation: RotaryTable, condition_BD?: Tensor): Prepared {
    const { x_BLD: normed, gate_B1D } = this.input_layernorm.forward(x_BLD, condition_BD);
    const queries = this.self_attn.queries(normed, rotation);
    return { queries, ...this.self_attn.keysAndValues(normed, rotation), gate_B1D };
  }

  /** For a last layer of which only keys and values are read. */
  remember(x_BLD: Tensor, rotation: RotaryTable): KeysAndValues {
    return this.self_attn.keysAndValues(this.input_layernorm.forward(x_BLD).x_BLD, rotation);
  }

  /** What comes after attention, whose answer is [B, N, L, H]. */
  finish(x_BLD: Tensor, attended_BNLH: Tensor, gate_B1D: Tensor | undefined, condition_BD?: Tensor): Tensor {
    const attended_BLD = this.self_attn.o_proj.forward(mergeHeads(attended_BNLH));
    const middle_BLD = residual(x_BLD, attended_BLD, gate_B1D);
    const next = this.post_attention_layernorm.forward(middle_BLD, condition_BD);
    return residual(middle_BLD, this.mlp.forward(next.x_BLD), next.gate_B1D);
  }
}

/** A stack of layers and the final norm. The word embeddings live elsewhere: the two towers differ in that. */
export class Gemma extends Module {
  readonly layers: readonly GemmaLayer[];
  readonly norm: Norm;

  constructor(sizes: GemmaSizes, adaptive: boolean, options: ModuleOptions) {
    super();
    this.layers = Array.from({ length: sizes.depth }, () => new GemmaLayer(sizes, adaptive, options));
    this.norm = normOf(sizes.width, adaptive, options);
  }
}
