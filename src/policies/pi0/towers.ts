/**
 * Two Gemmas that share attention: PaliGemma reads pictures and words, the action expert reads state and actions.
 *
 * Layer by layer the expert looks at what PaliGemma's same layer remembers, never the other way round. So
 * PaliGemma runs once per observation and the expert once per step of denoising, over remembered keys and values:
 * exact, and most of the work is done once. Where nobody reads PaliGemma's own answer, its last layer stops at keys and values.
 *
 * Shapes: B batch, P prefix tokens, S suffix tokens, D width of a tower, H head width.
 */
import { attention, Embedding, Linear, Module, type ModuleOptions, type RotaryTable, rotaryTable } from "#nn";
import { arange, cat, type Tensor } from "#tensor";
import type { Pi0Config } from "./config.ts";
import { Gemma, type GemmaLayer, type KeysAndValues, type Prepared } from "./gemma.ts";
import { SiglipVisionModel } from "./siglip.ts";

/** Adds to the score of a pair that may not look: far beyond any score, and far from overflow in every type. */
const forbidden = -1e30;

/** What the expert sees of an observation. */
export interface Memory {
  readonly layers: readonly KeysAndValues[];
  /** Which prefix tokens are real, bool [B, P]; undefined when all are. */
  readonly mask_BP: Tensor | undefined;
  /** How many are real: where the suffix's positions begin. */
  readonly length_B1: Tensor; // int64
  /** PaliGemma's answer after its final norm, [B, P, D]; only when asked for. */
  readonly output_BPD: Tensor | undefined;
}

export interface Prefix {
  readonly embeddings_BPD: Tensor;
  /** bool [B, P]; false for padding and for cameras that are not there. */
  readonly mask_BP: Tensor;
  /** False promises that the mask is true everywhere. */
  readonly padded: boolean;
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

  /** Words as vectors, times √D as Gemma wants them. */
  read(ids_BL: Tensor): Tensor {
    const words_BLD = this.paligemma.lm_head.forward(ids_BL);
    return words_BLD.mul(Math.sqrt(words_BLD.size(2)));
  }

  /** PaliGemma reads the prefix, every real token looking at every real token. `whole` also computes its answer. */
  remember({ embeddings_BPD, mask_BP, padded }: Prefix, whole: boolean): Memory {
    const { layers, norm } = this.paligemma.model.language_model;
    const real_BP = mask_BP.long();
    const rotation = this.#rotation(real_BP.cumsum(1).sub(1), embeddings_BPD);
    const mask = padded ? prefixMask(mask_BP, embeddings_BPD, whole) : undefined;
    const attend = whole && padded && this.paligemma.lm_head.weight.requiresGrad ? plainly : fused;
    const memories: KeysAndValues[] = [];
    let x_BPD = embeddings_BPD;
    for (const [i, layer] of layers.entries()) {
      if (i === layers.length - 1 && !whole) {
        memories.push(layer.remember(x_BPD, rotation));
        break;
      }
      const prepared = layer.prepare(x_BPD, rotation);
      memories.push({ keys: prepared.keys, values: prepared.values });
      x_BPD = layer.finish(x_BPD, attend(prepared, mask, layer), undefined);
    }
    return {
      layers: memories,
      mask_BP: padded ? mask_BP : undefined,
      length_B1: real_BP.sum(1, true),
      output_BPD: whole ? norm.forward(x_BPD).x_BLD : undefined,
    };
  }

  /**
   * The expert's answer to a suffix, after its final norm: float32 [B, S, D].
   *
   * `sees_SS` says which suffix token may look at which; all look at the whole prefix.
   */
  answer(memory: Memory, embeddings_BSD: Tensor, sees_SS: Tensor | undefined, condition_BD?: Tensor): Tensor {
    const { layers, norm } = this.gemma_expert.model;
    const { dtype } = layers[0]!.self_attn.q_proj.weight;
    const S = embeddings_BSD.size(1);
    const steps_S = arange(0, S, 1, { dtype: "int64", device: embeddings_BSD.device });
    const rotation = this.#rotation(memory.length_B1.add(steps_S), embeddings_BSD.to({ dtype }));
    const mask = suffixMask(memory, sees_SS, S);
    const answer_BSD = layers.reduce((x_BSD, layer, i) => {
      const prepared = layer.prepare(x_BSD, rotation, condition_BD);
      const { keys, values } = memory.layers[i]!;
      const joined = {
        ...prepared,
        keys: cat([keys, prepared.keys], 2),
        values: cat([values, prepared.values], 2),
      };
      return layer.finish(x_BSD, fused(joined, mask, layer), prepared.gate_B1D, condition_BD);
    }, embeddings_BSD.to({ dtype }));
    return norm.forward(answer_BSD, condition_BD).x_BLD.float();
  }

  #rotation(positions_BL: Tensor, { dtype }: Tensor): RotaryTable {
    const { cos, sin } = rotaryTable(positions_BL, this.#headWidth);
    return { cos: cos.unsqueeze(1).to({ dtype }), sin: sin.unsqueeze(1).to({ dtype }) };
  }
}

type Heads = Pick<Prepared, "queries" | "keys" | "values">;

function fused(
  { queries, keys, values }: Heads,
  mask: Tensor | undefined,
  { self_attn }: GemmaLayer,
): Tensor {
  return attention(queries, self_attn.spread(keys), self_attn.spread(values), { mask });
}

/**
 * Attention spelled out, for training what a critic reads of padding: fused kernels keep only the logarithm of a
 * row's sum, which a forbidden score swallows, and their gradients of such rows are wrong.
 */
function plainly(
  { queries, keys, values }: Heads,
  mask: Tensor | undefined,
  { self_attn }: GemmaLayer,
): Tensor {
  const { dtype } = queries;
  const scores = queries.matmul(self_attn.spread(keys).transpose(2, 3)).mul(queries.size(3) ** -0.5);
  const shares = (mask ? scores.add(mask) : scores).float().softmax(3).to({ dtype });
  return shares.matmul(self_attn.spread(values));
}

/**
 * Where PaliGemma's answer is read, padding's answers are read too (by the critic), and the reference lets padding
 * look at everything alike: a forbidden score swallows the real one. Elsewhere it is enough to hide padding's keys.
 */
function prefixMask(mask_BP: Tensor, { dtype }: Tensor, whole: boolean): Tensor {
  const keys_B11P = mask_BP.unsqueeze(1).unsqueeze(1);
  if (!whole) return keys_B11P;
  const pairs_B1PP = keys_B11P.logicalAnd(mask_BP.unsqueeze(1).unsqueeze(3));
  return pairs_B1PP.logicalNot().to({ dtype }).mul(forbidden);
}

/** bool [B or 1, 1, S, P + S], or nothing when everybody sees everything. */
function suffixMask({ mask_BP, layers }: Memory, sees_SS: Tensor | undefined, S: number): Tensor | undefined {
  if (!mask_BP && !sees_SS) return undefined;
  const [B = 0, , P = 0] = layers[0]!.keys.shape;
  const { device } = layers[0]!.keys;
  const all = (shape: number[]): Tensor => arange(0, 1, 1, { device }).eq(0).view([1, 1, 1]).expand(shape);
  const ofPrefix = mask_BP ? mask_BP.unsqueeze(1).expand([B, S, P]) : all([1, S, P]);
  const rows = ofPrefix.size(0);
  const ofSuffix = sees_SS ? sees_SS.unsqueeze(0).expand([rows, S, S]) : all([rows, S, S]);
  return cat([ofPrefix, ofSuffix], 2).unsqueeze(1);
}
