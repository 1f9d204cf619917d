/**
 * The Llama decoder as OpenVLA models use it: fed with embeddings, read at a few positions.
 *
 * Touvron et al., https://arxiv.org/abs/2307.09288. Attention is whatever the mask says: OpenVLA-OFT lets every
 * token see every other one, OpenVLA is causal and keeps keys and values between decoding steps.
 *
 * Shapes: B batch, L tokens, D width, H heads, K key-value heads, E head width, M tokens seen, F hidden width.
 */

import { fusedRotateHalves } from "#kernels";
import {
  attention,
  Embedding,
  GatedMlp,
  Linear,
  type LoraLinear,
  Module,
  type ModuleOptions,
  mergeHeads,
  RMSNorm,
  type RotaryTable,
  rotateHalves,
  splitHeads,
} from "#nn";
import { aten, cat, ones, scope, type Tensor } from "#tensor";
import type { TextConfig } from "./config.ts";
import { rotationSpan } from "./rotary.ts";

/** What every layer is told about the tokens: who sees whom, and where each stands. */
export interface Context {
  /** bool [B, 1, L or 1, M]: true where a token may be seen; undefined means everywhere. */
  readonly mask?: Tensor | undefined;
  /** Every token sees itself and those before it. Not together with `mask`. */
  readonly causal?: boolean;
  readonly rotation: RotaryTable;
}

/** A run of positions. The last layer is asked only for those that somebody reads. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/** Keys and values of one layer, [B, K, M, E] each. */
export interface KeysValues {
  readonly keys: Tensor;
  readonly values: Tensor;
}

/** The context of some positions only: their rows of the mask, their part of the rotation. */
function contextSpan({ mask, causal, rotation }: Context, asked: Span, x_BLD: Tensor): Context {
  const { start, length } = asked;
  const part = rotationSpan(rotation, asked);
  if (mask) return { mask: mask.size(2) === 1 ? mask : mask.narrow(2, start, length), rotation: part };
  if (!causal) return { rotation: part };
  const rows_QL = ones([length, x_BLD.size(1)], { dtype: "bool", device: x_BLD.device }).tril(start);
  return { mask: rows_QL, rotation: part };
}

/** Splits the heads and turns each by its position: [B, L, D] to [B, H, L, E]. The input may be overwritten. */
function rotated(x_BLD: Tensor, heads: number, rotation: RotaryTable): Tensor {
  const turned_BLD = fusedRotateHalves(x_BLD, heads, rotation.cos, rotation.sin);
  if (turned_BLD) return splitHeads(turned_BLD, heads);
  return scope(() => rotateHalves(splitHeads(x_BLD, heads), rotation));
}

class LlamaAttention extends Module {
  readonly q_proj: Linear;
  readonly k_proj: Linear;
  readonly v_proj: Linear;
  readonly o_proj: Linear;
  readonly #heads: number;
  readonly #keyHeads: number;

  constructor(config: TextConfig, options: ModuleOptions) {
    super();
    const { hidden_size, num_attention_heads } = config;
    this.#heads = num_attention_heads;
    this.#keyHeads = config.num_key_value_heads ?? num_attention_heads;
    const keyWidth = (hidden_size / num_attention_heads) * this.#keyHeads;
    const noBias = { ...options, bias: false };
    this.q_proj = new Linear(hidden_size, hidden_size, noBias);
    this.k_proj = new Linear(hidden_size, keyWidth, noBias);
    this.v_proj = new Linear(hidden_size, keyWidth, noBias);
    this.o_proj = new Linear(hidden_size, hidden_size, noBias);
  }

  forward(x_BLD: Tensor, context: Context, asked?: Span): Tensor {
    return this.#look(x_BLD, context, this.#keysValues(x_BLD, context), asked);
  }

  /** Decoding: looks at earlier tokens too, and gives back all keys and values for the next step. */
  step(x_BLD: Tensor, context: Context, past?: KeysValues): [Tensor, KeysValues] {
    const { keys, values } = this.#keysValues(x_BLD, context);
    const all = past
      ? { keys: cat([past.keys, keys], 2), values: cat([past.values, values], 2) }
      : { keys, values };
    return [this.#look(x_BLD, context, all), all];
  }

  #keysValues(x_BLD: Tensor, { rotation }: Context): KeysValues {
    const keys = rotated(this.k_proj.forward(x_BLD), this.#keyHeads, rotation);
    return { keys, values: splitHeads(this.v_proj.forward(x_BLD), this.#keyHeads) };
  }

  #look(x_BLD: Tensor, context: Context, seen: KeysValues, asked?: Span): Tensor {
    const x_BQD = asked ? x_BLD.narrow(1, asked.start, asked.length) : x_BLD;
    const { mask, causal, rotation } = asked ? contextSpan(context, asked, x_BLD) : context;
    const q_BHQE = rotated(this.q_proj.forward(x_BQD), this.#heads, rotation);
    const options = { ...(mask && { mask }), ...(causal && { causal }) };
    const seen_BHQE = attention(q_BHQE, this.#spread(seen.keys), this.#spread(seen.values), options);
    return this.o_proj.forward(mergeHeads(seen_BHQE));
  }

  /** Each key-value head serves several query heads (grouped-query attention). */
  #spread(x_BKME: Tensor): Tensor {
    const repeats = this.#heads / this.#keyHeads;
    return repeats === 1 ? x_BKME : x_BKME.repeatInterleave(repeats, 1);
  }
}

export class LlamaLayer extends Module {
  readonly self_attn: LlamaAttention;
  readonly mlp: GatedMlp;
  readonly input_layernorm: RMSNorm;
  readonly post_attention_layernorm: RMSNorm;

  constructor(config: TextConfig, options: ModuleOptions) {
    super();
    const { hidden_size, rms_norm_eps: eps } = config;
    this.self_attn = new LlamaAttention(config, options);
    this.mlp = new GatedMlp({ width: hidden_size, hidden: config.intermediate_size, ...options });
    this.input_layernorm = new RMSNorm(hidden_size, { eps, ...options });
    this.post_attention_layernorm = new RMSNorm(hidden_size, { eps, ...options });
  }

  /** All tokens are seen; the answer covers the span that is asked for, or all. */
  forward(x_BLD: Tensor, context: Context, asked?: Span): Tensor {
    const attended = scope(() => this.self_attn.forward(this.input_layernorm.forward(x_BLD), context, asked));
    return this.#think(asked ? x_BLD.narrow(1, asked.start, asked.length) : x_BLD, attended);
  }

  /** One decoding step, with the keys and values of earlier tokens. */
  step(x_BLD: Tensor, context: Context, past?: KeysValues): [Tensor, KeysValues] {
    const [attended, seen] = this.self_attn.step(this.input_layernorm.forward(x_BLD), context, past);
    return [this.#think(x_BLD, attended), seen];
  }

  #think(x_BLD: Tensor, attended_BLD: Tensor): Tensor {
    return scope(() => {
      const { sum, normed } = this.post_attention_layernorm.forwardSum(x_BLD, attended_BLD);
      return sum.add(this.mlp.forward(normed));
    });
  }
}

/** A table whose pad row never learns, as transformers has it. */
class TokenEmbedding extends Embedding {
  readonly #padId: number;

  constructor({ vocab_size, hidden_size, pad_token_id }: TextConfig, options: ModuleOptions) {
    super(vocab_size, hidden_size, options);
    this.#padId = pad_token_id ?? -1;
  }

  override forward(ids_BL: Tensor): Tensor {
    return aten.embedding(this.weight, ids_BL, this.#padId);
  }
}

class LlamaModel extends Module {
  readonly embed_tokens: TokenEmbedding;
  readonly layers: readonly LlamaLayer[];
  readonly norm: RMSNorm;

  constructor(config: TextConfig, options: ModuleOptions) {
    super();
    this.embed_tokens = new TokenEmbedding(config, options);
    this.layers = Array.from({ length: config.num_hidden_layers }, () => new LlamaLayer(config, options));
    this.norm = new RMSNorm(config.hidden_size, { eps: config.rms_norm_eps, ...options });
  }
}

export class Llama extends Module {
  readonly model: LlamaModel;
  readonly lm_head: Linear | LoraLinear;

  constructor(config: TextConfig, options: ModuleOptions) {
    super();
    this.model = new LlamaModel(config, options);
    this.lm_head = new Linear(config.hidden_size, config.vocab_size, { ...options, bias: false });
  }

  embed(ids_BL: Tensor): Tensor {
    return this.model.embed_tokens.forward(ids_BL);
  }

  /** Through all layers, without the final norm. */
  layers(x_BLD: Tensor, context: Context, asked?: Span): Tensor {
    const all = this.model.layers;
    return all.reduce(
      (x, layer, i) => layer.forward(x, context, i === all.length - 1 ? asked : undefined),
      x_BLD,
    );
  }

  /** Logits of the ids first … first + count − 1 only, float32: the rest of the vocabulary is never computed. */
  logits(x_BLD: Tensor, first: number, count: number): Tensor {
    return outputRows(this.lm_head, this.model.norm.forward(x_BLD), first, count).float();
  }
}

/** Some outputs of a linear layer, adapted or not, without computing the others. */
function outputRows(layer: Linear | LoraLinear, x: Tensor, first: number, count: number): Tensor {
  if (layer instanceof Linear) return aten.linear(x, layer.weight.narrow(0, first, count));
  const low = outputRows(layer.lora_B, layer.lora_A.forward(x), first, count);
  return outputRows(layer.base_layer, x, first, count).add(low.mul(layer.scale));
}
