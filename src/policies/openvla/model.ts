/**
 * OpenVLA: the same towers and Llama as OpenVLA-OFT, read causally, one action token after the other.
 *
 * Kim et al. 2024, https://arxiv.org/abs/2406.09246. Acting keeps keys and values between tokens; judging sees the
 * recorded tokens all at once. Both give the same numbers up to rounding, not to the bit, because their matrix
 * products have other shapes.
 *
 * Shapes: B batch, P picture tokens, L prompt columns, S tokens before the actions, A action tokens, D width,
 * V action ids.
 */
import { Module, type ModuleOptions } from "#nn";
import { cat, ones, type Tensor } from "#tensor";
import type { PrismaticConfig } from "../prismatic/config.ts";
import { type Context, type KeysValues, Llama } from "../prismatic/llama.ts";
import type { PromptBatch } from "../prismatic/prompts.ts";
import { rotationFor } from "../prismatic/rotary.ts";
import { ValueHead } from "../prismatic/value-head.ts";
import { Projector, VisionBackbone } from "../prismatic/vision-backbone.ts";

export interface OpenVlaInputs {
  readonly features_BPC: Tensor;
  readonly prompt: PromptBatch;
  /** False promises that the prompt has no pad at all, so that attention needs no mask. */
  readonly padded: boolean;
}

export interface OpenVlaAnswer {
  readonly logits_BAV: Tensor; // float32, action ids only
  readonly values_BV: Tensor | undefined; // float32 [B, 1]
}

/** Chooses token number `position` from its logits [B, V]: ids counted from the first action id, [B]. */
export type Choose = (logits_BV: Tensor, position: number) => Tensor;

export class OpenVlaModel extends Module {
  readonly vision_backbone: VisionBackbone;
  readonly projector: Projector;
  readonly language_model: Llama;
  readonly value_head: ValueHead | undefined;
  readonly #config: PrismaticConfig;

  constructor(config: PrismaticConfig, values: number, options: ModuleOptions = {}) {
    super();
    this.vision_backbone = new VisionBackbone(config, options);
    this.projector = new Projector(config, options);
    this.language_model = new Llama(config.text, options);
    this.value_head = values > 0 ? new ValueHead(config.text.hidden_size, values, options) : undefined;
    this.#config = config;
  }

  see(pixels_BKSS: Tensor): Tensor {
    return this.vision_backbone.forward(pixels_BKSS);
  }

  /** Judges recorded tokens (absolute ids [B, A]) in one pass; the last of them predicts nothing and is left out. */
  forward({ features_BPC, prompt, padded }: OpenVlaInputs, ids_BA: Tensor): OpenVlaAnswer {
    const A = ids_BA.shape[1]!;
    const start = this.#start(features_BPC, prompt);
    const told_BTD = this.language_model.embed(ids_BA.slice(1, 0, A - 1));
    const x_BSD = cat([start.embeddings_BSD, told_BTD], 1);
    const real_BS = cat([start.real_BS, trues(ids_BA, A - 1)], 1);
    const asked = { start: start.embeddings_BSD.shape[1]! - 1, length: A };
    const context = this.#context(real_BS, 0, padded);
    const hidden_BAD = this.language_model.layers(x_BSD, context, asked);
    return { logits_BAV: this.#logits(hidden_BAD), values_BV: this.#values(hidden_BAD.select(1, 0)) };
  }

  /** Decodes `count` tokens with a cache. The critic reads the prompt's last token, before any action. */
  decode({ features_BPC, prompt, padded }: OpenVlaInputs, count: number, choose: Choose): OpenVlaAnswer {
    const { embeddings_BSD, real_BS } = this.#start(features_BPC, prompt);
    let real = real_BS;
    let [last_BD, cache] = this.#step(embeddings_BSD, this.#context(real, 0, padded));
    const values_BV = this.#values(last_BD);
    const logits = [this.#logits(last_BD)];
    for (let i = 0; i + 1 < count; i++) {
      const id_B = choose(logits[i]!, i).add(this.#firstId);
      real = cat([real, trues(id_B.unsqueeze(1), 1)], 1);
      const context = this.#context(real, real.shape[1]! - 1, padded);
      [last_BD, cache] = this.#step(this.language_model.embed(id_B.unsqueeze(1)), context, cache);
      logits.push(this.#logits(last_BD));
    }
    choose(logits[count - 1]!, count - 1);
    return { logits_BAV: stackRows(logits), values_BV };
  }

  get #firstId(): number {
    return this.#config.vocabulary - this.#config.actionBins;
  }

  /** [begin | pictures | pads… prompt ▁] */
  #start(
    features_BPC: Tensor,
    { ids_BL, mask_BL }: PromptBatch,
  ): { embeddings_BSD: Tensor; real_BS: Tensor } {
    const seen_BPD = this.projector.forward(features_BPC);
    const words_BLD = this.language_model.embed(ids_BL);
    const P = seen_BPD.shape[1]!;
    return {
      embeddings_BSD: cat([words_BLD.slice(1, 0, 1), seen_BPD, words_BLD.slice(1, 1)], 1),
      real_BS: cat([mask_BL.slice(1, 0, 1), trues(mask_BL, P), mask_BL.slice(1, 1)], 1),
    };
  }

  /** For the tokens from `from` on: each sees the real tokens up to itself. */
  #context(real_BM: Tensor, from: number, padded: boolean): Context {
    const { hidden_size, num_attention_heads, rope_theta } = this.#config.text;
    const M = real_BM.shape[1]!;
    const positions_BL = real_BM.long().cumsum(1).sub(1).slice(1, from);
    const { dtype } = this.language_model.model.norm.weight;
    const rotation = rotationFor(positions_BL, hidden_size / num_attention_heads, rope_theta, dtype);
    if (from > 0) return padded ? { mask: real_BM.unsqueeze(1).unsqueeze(1), rotation } : { rotation };
    if (!padded) return { causal: true, rotation };
    const causal_MM = ones([M, M], { dtype: "bool", device: real_BM.device }).tril();
    return { mask: real_BM.unsqueeze(1).logicalAnd(causal_MM).unsqueeze(1), rotation };
  }

  /** All layers; answers for the last position only. */
  #step(x_BLD: Tensor, context: Context, past?: readonly KeysValues[]): [Tensor, KeysValues[]] {
    const cache: KeysValues[] = [];
    let x = x_BLD;
    for (const [i, layer] of this.language_model.model.layers.entries()) {
      const [next, seen] = layer.step(x, context, past?.[i]);
      cache.push(seen);
      x = next;
    }
    return [x.select(1, -1), cache];
  }

  #logits(hidden: Tensor): Tensor {
    return this.language_model.logits(hidden, this.#firstId, this.#config.actionBins);
  }

  #values(hidden_BD: Tensor): Tensor | undefined {
    return this.value_head?.forward(this.language_model.model.norm.forward(hidden_BD)).float();
  }
}

const trues = (like: Tensor, columns: number): Tensor =>
  ones([like.shape[0]!, columns], { dtype: "bool", device: like.device });

const stackRows = (rows: readonly Tensor[]): Tensor =>
  cat(
    rows.map((row) => row.unsqueeze(1)),
    1,
  );
