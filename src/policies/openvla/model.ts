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
import type { Part } from "../policy.ts";
import type { PrismaticConfig } from "../prismatic/config.ts";
import {
  type Chain,
  decoderLayers,
  decoderParts,
  type PlacedLayer,
  placed,
  type Seen,
  visionLayers,
  visionParts,
} from "../prismatic/layers.ts";
import { type Context, type KeysValues, Llama, type Span } from "../prismatic/llama.ts";
import type { PromptBatch } from "../prismatic/prompts.ts";
import { rotationFor } from "../prismatic/rotary.ts";
import type { TokenAnswer } from "../prismatic/token-policy.ts";
import { ValueHead } from "../prismatic/value-head.ts";
import { Projector, VisionBackbone } from "../prismatic/vision-backbone.ts";

export interface OpenVlaInputs {
  readonly features_BPC: Tensor;
  readonly prompt: PromptBatch;
  /** False promises that the prompt has no pad at all, so that attention needs no mask. */
  readonly padded: boolean;
}

export type OpenVlaAnswer = TokenAnswer;

/** Chooses token number `position` from its logits [B, V]: ids counted from the first action id, [B]. */
export type Choose = (logits_BV: Tensor, position: number) => Tensor;

const joinPart: Part = ["projector", "language_model.model.embed_tokens"];
const answerPart: Part = ["language_model.model.norm", "language_model.lm_head", "value_head"];

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
    const { context, asked } = this.#judging(prompt, ids_BA, features_BPC.size(1), padded);
    const x_BSD = this.#told(features_BPC, prompt, ids_BA);
    return this.#answer(this.language_model.layers(x_BSD, context, asked));
  }

  /** The same as `forward`, as a chain of layers. */
  chain(seen: Seen, prompt: PromptBatch, ids_BA: Tensor, padded: boolean): Chain<OpenVlaAnswer> {
    const { context, asked } = this.#judging(prompt, ids_BA, this.#config.patches, padded);
    const join: PlacedLayer = {
      ...placed(this, joinPart),
      forward: ([features_BPC]) => [this.#told(features_BPC!, prompt, ids_BA)],
    };
    const vision = seen.features_BPC ? [] : visionLayers(this, ids_BA.size(0));
    return {
      layers: [...vision, join, ...decoderLayers(this, context, asked)],
      inputs: [seen.features_BPC ?? seen.pixels_BKSS],
      answer: (hidden_BAD) => this.#answer(hidden_BAD),
      answerPart,
    };
  }

  /** Every piece of a chain. */
  parts(): Part[] {
    const { before, blocks, unread } = visionParts(this);
    return [before, ...blocks, unread, joinPart, ...decoderParts(this), answerPart];
  }

  /** Prompt and all recorded tokens but the last: [B, S + A − 1, D]. */
  #told(features_BPC: Tensor, prompt: PromptBatch, ids_BA: Tensor): Tensor {
    const known = ids_BA.slice(1, 0, ids_BA.size(1) - 1);
    return cat([this.#start(features_BPC, prompt), this.language_model.embed(known)], 1);
  }

  #judging(
    prompt: PromptBatch,
    ids_BA: Tensor,
    patches: number,
    padded: boolean,
  ): { context: Context; asked: Span } {
    const A = ids_BA.size(1);
    const real_BS = realTokens(prompt, patches);
    const context = this.#context(cat([real_BS, trues(ids_BA, A - 1)], 1), 0, padded);
    return { context, asked: { start: real_BS.size(1) - 1, length: A } };
  }

  #answer(hidden_BAD: Tensor): OpenVlaAnswer {
    return { logits_BAV: this.#logits(hidden_BAD), values_BV: this.#values(hidden_BAD.select(1, 0)) };
  }

  /** Decodes `count` tokens with a cache. The critic reads the prompt's last token, before any action. */
  decode({ features_BPC, prompt, padded }: OpenVlaInputs, count: number, choose: Choose): OpenVlaAnswer {
    let real = realTokens(prompt, features_BPC.size(1));
    let [last_BD, cache] = this.#step(this.#start(features_BPC, prompt), this.#context(real, 0, padded));
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

  /** [begin | pictures | pads… prompt ▁]: [B, S, D] */
  #start(features_BPC: Tensor, { ids_BL }: PromptBatch): Tensor {
    const words_BLD = this.language_model.embed(ids_BL);
    return cat([words_BLD.slice(1, 0, 1), this.projector.forward(features_BPC), words_BLD.slice(1, 1)], 1);
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

/** Which tokens before the actions are not padding: bool [B, S]. */
const realTokens = ({ mask_BL }: PromptBatch, patches: number): Tensor =>
  cat([mask_BL.slice(1, 0, 1), trues(mask_BL, patches), mask_BL.slice(1, 1)], 1);

const stackRows = (rows: readonly Tensor[]): Tensor =>
  cat(
    rows.map((row) => row.unsqueeze(1)),
    1,
  );
