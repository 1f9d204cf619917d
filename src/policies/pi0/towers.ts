/**
 * Two Gemmas that share attention: PaliGemma reads pictures and words, the action expert reads state and actions.
 *
 * Layer by layer the expert looks at what PaliGemma's same layer remembers, never the other way round. So
 * PaliGemma runs once per observation and the expert once per step of denoising, over remembered keys and values:
 * exact, and most of the work is done once. Where nobody reads PaliGemma's own answer, its last layer stops at keys and values.
 *
 * Shapes: B batch, P prefix tokens, S suffix tokens, D width of a tower, H head width.
 */
import { Embedding, Linear, Module, type ModuleOptions, type RotaryTable, rotaryTable } from "#nn";
import { arange, cat, type DType, type Tensor } from "#tensor";
import type { Pi0Config } from "./config.ts";
import { Gemma, type KeysAndValues } from "./gemma.ts";
import { fused, plainly, prefixMask, type Seen, suffixMask } from "./looking.ts";
import { SiglipVisionModel } from "./siglip.ts";

/** What the expert sees of an observation. */
export interface Memory extends Seen {
  readonly layers: readonly KeysAndValues[];
  /** PaliGemma's answer after its final norm, [B, P, D]; only when asked for. */
  readonly output_BPD: Tensor | undefined;
}

export interface PrefixLayout {
  /** bool [B, P]; false for padding and for cameras that are not there. */
  readonly mask_BP: Tensor;
  /** False promises that the mask is true everywhere. */
  readonly padded: boolean;
}

export interface Prefix extends PrefixLayout {
  readonly embeddings_BPD: Tensor;
}

/** How PaliGemma reads: with an answer of its own, for a critic; and whether it will be trained on it. */
export interface Reading {
  readonly whole: boolean;
  readonly trained: boolean;
}

export interface PrefixContext {
  readonly whole: boolean;
  readonly rotation: RotaryTable;
  readonly mask: Tensor | undefined;
  readonly attend: typeof fused;
}

export interface SuffixContext {
  readonly rotation: RotaryTable;
  readonly mask: Tensor | undefined;
}

export class PaliGemmaWithExpert extends Module {
  readonly paligemma: {
    readonly model: {
      readonly vision_tower: { readonly vision_model: SiglipVisionModel };
      readonly multi_modal_projector: { readonly linear: Linear };
      readonly language_model: Gemma;
    };
    /** Also the table of word embeddings: the two are tied, and files keep this name. */
    readonly lm_head: Embedding;
  };
  readonly gemma_expert: {
    readonly model: Gemma;
    /** In every file, read by nobody: kept so that a checkpoint is written back whole. */
    readonly lm_head: Embedding;
  };
  readonly #headWidth: number;

  constructor({ sizes, pi05 }: Pi0Config, options: ModuleOptions) {
    super();
    const { vlm, expert, vision, vocabulary } = sizes;
    this.#headWidth = vlm.head_dim;
    this.paligemma = {
      model: {
        vision_tower: { vision_model: new SiglipVisionModel(vision, options) },
        multi_modal_projector: { linear: new Linear(vision.hidden_size, vlm.width, options) },
        language_model: new Gemma(vlm, false, options),
      },
      lm_head: new Embedding(vocabulary, vlm.width, options),
    };
    this.gemma_expert = {
      model: new Gemma(expert, pi05, options),
      lm_head: new Embedding(vocabulary, expert.width, options),
    };
  }

  /** float32 [X, 3, S, S] in [−1, 1] to tokens of the language model, [X, P, D]. Not scaled, unlike words. */
  see(pixels_XCSS: Tensor): Tensor {
    const { vision_tower, multi_modal_projector } = this.paligemma.model;
    return multi_modal_projector.linear.forward(vision_tower.vision_model.forward(pixels_XCSS));
  }

  /** The end of `see`, behind the last layer of vision. */
  project(x_XPD: Tensor): Tensor {
    const { vision_tower, multi_modal_projector } = this.paligemma.model;
    return multi_modal_projector.linear.forward(vision_tower.vision_model.post_layernorm.forward(x_XPD));
  }

  /** Words as vectors, times √D as Gemma wants them. */
  read(ids_BL: Tensor): Tensor {
    const words_BLD = this.paligemma.lm_head.forward(ids_BL);
    return words_BLD.mul(Math.sqrt(words_BLD.size(2)));
  }

  /** PaliGemma reads the prefix, every real token looking at every real token. */
  remember(prefix: Prefix, how: Reading): Memory {
    const { layers, norm } = this.paligemma.model.language_model;
    const context = this.prefixContext(prefix, how);
    const memories: KeysAndValues[] = [];
    let x_BPD = prefix.embeddings_BPD;
    for (const i of layers.keys()) {
      const done = this.prefixLayer(i, x_BPD, context);
      memories.push(done.memory);
      x_BPD = done.x_BPD;
    }
    return {
      layers: memories,
      ...seenBy(prefix),
      output_BPD: how.whole ? norm.forward(x_BPD).x_BLD : undefined,
    };
  }

  prefixContext({ mask_BP, padded }: PrefixLayout, how: Reading): PrefixContext {
    const { dtype } = this.paligemma.lm_head.weight;
    return {
      whole: how.whole,
      rotation: this.#rotation(mask_BP.long().cumsum(1).sub(1), dtype),
      mask: padded ? prefixMask(mask_BP, dtype, how.whole) : undefined,
      attend: how.whole && padded && how.trained ? plainly : fused,
    };
  }

  /** One layer of PaliGemma: what it remembers, and its output, which the last may leave out. */
  prefixLayer(i: number, x_BPD: Tensor, { rotation, mask, attend, whole }: PrefixContext) {
    const { layers } = this.paligemma.model.language_model;
    const layer = layers[i]!;
    if (i === layers.length - 1 && !whole) return { memory: layer.remember(x_BPD, rotation), x_BPD };
    const prepared = layer.prepare(x_BPD, rotation);
    const memory: KeysAndValues = { keys: prepared.keys, values: prepared.values };
    return { memory, x_BPD: layer.finish(x_BPD, attend(prepared, mask, layer), undefined) };
  }

  /**
   * The expert's answer to a suffix, after its final norm: float32 [B, S, D].
   *
   * `sees_SS` says which suffix token may look at which; all look at the whole prefix.
   */
  answer(memory: Memory, embeddings_BSD: Tensor, sees_SS: Tensor | undefined, condition_BD?: Tensor): Tensor {
    const context = this.suffixContext(memory, embeddings_BSD.size(1), sees_SS);
    const answer_BSD = memory.layers.reduce(
      (x_BSD, remembered, i) => this.suffixLayer(i, x_BSD, remembered, context, condition_BD),
      this.enter(embeddings_BSD),
    );
    return this.leave(answer_BSD, condition_BD);
  }

  /** Into the layers' type, and out of it through the final norm. */
  enter(embeddings_BSD: Tensor): Tensor {
    return embeddings_BSD.to({ dtype: this.#expertType });
  }

  leave(x_BSD: Tensor, condition_BD?: Tensor): Tensor {
    return this.gemma_expert.model.norm.forward(x_BSD, condition_BD).x_BLD.float();
  }

  /** For S suffix tokens. */
  suffixContext(seen: Seen, S: number, sees_SS: Tensor | undefined): SuffixContext {
    const steps_S = arange(0, S, 1, { dtype: "int64", device: seen.length_B1.device });
    return {
      rotation: this.#rotation(seen.length_B1.add(steps_S), this.#expertType),
      mask: suffixMask(seen, sees_SS, S),
    };
  }

  /** One layer of the expert, over what PaliGemma's same layer remembers. */
  suffixLayer(
    i: number,
    x_BSD: Tensor,
    memory: KeysAndValues,
    { rotation, mask }: SuffixContext,
    condition_BD?: Tensor,
  ): Tensor {
    const layer = this.gemma_expert.model.layers[i]!;
    const { queries, keys, values, gate_B1D } = layer.prepare(x_BSD, rotation, condition_BD);
    const joined = {
      queries,
      keys: cat([memory.keys, keys], 2),
      values: cat([memory.values, values], 2),
    };
    return layer.finish(x_BSD, fused(joined, mask, layer), gate_B1D, condition_BD);
  }

  get #expertType(): DType {
    return this.gemma_expert.lm_head.weight.dtype;
  }

  #rotation(positions_BL: Tensor, dtype: DType): RotaryTable {
    const { cos, sin } = rotaryTable(positions_BL, this.#headWidth);
    return { cos: cos.unsqueeze(1).to({ dtype }), sin: sin.unsqueeze(1).to({ dtype }) };
  }
}

/** What the suffix must know of the prefix besides its memories. */
export const seenBy = ({ mask_BP, padded }: PrefixLayout): Seen => ({
  mask_BP: padded ? mask_BP : undefined,
  length_B1: mask_BP.long().sum(1, true),
  tokens: mask_BP.size(1),
});
