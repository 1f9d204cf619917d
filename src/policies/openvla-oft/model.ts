/**
 * OpenVLA-OFT: two vision towers, a projector and a Llama that answers a whole chunk of actions in one pass.
 *
 * Kim et al. 2025, https://arxiv.org/abs/2502.19645, the discrete-token form that RLinf trains
 * (https://github.com/RLinf/RLinf), in its two variants. We depart where the result is the same and the work is
 * less: columns that are padding in every row are cut, the last layer answers only for positions that are
 * read, and only the action rows of the vocabulary are computed.
 *
 * Shapes: B batch, N pictures, P picture tokens, L prompt columns, A action tokens, S all tokens, D width,
 * V action ids, Q numbers of proprioception.
 */
import { gelu, Linear, Module, type ModuleOptions } from "#nn";
import { arange, cat, type Tensor } from "#tensor";
import type { PrismaticConfig } from "../prismatic/config.ts";
import { type Context, Llama, type Span } from "../prismatic/llama.ts";
import type { PromptBatch } from "../prismatic/prompts.ts";
import { rotationFor } from "../prismatic/rotary.ts";
import { officialSequence, rlinfSequence, type Sequence } from "../prismatic/sequence.ts";
import { ValueHead } from "../prismatic/value-head.ts";
import { Projector, VisionBackbone } from "../prismatic/vision-backbone.ts";

export type Variant = "rlinf" | "official";

export interface OftShape {
  readonly variant: Variant;
  /** A: actions in a chunk times numbers in an action. */
  readonly actionTokens: number;
  /** Outputs of the value head; 0 means none. */
  readonly values: number;
  /** Q; 0 means that proprioception is not read. */
  readonly proprio: number;
  readonly endId: number;
}

export interface OftInputs {
  /** What the towers saw, [B, N·P, C] (see `see`). */
  readonly features_BPC: Tensor;
  readonly prompt: PromptBatch;
  readonly proprio_BQ?: Tensor | undefined;
}

export interface OftAnswer {
  readonly logits_BAV: Tensor; // float32, action ids only
  readonly values_BV: Tensor | undefined; // float32
}

class ProprioProjector extends Module {
  readonly fc1: Linear;
  readonly fc2: Linear;

  constructor(numbers: number, width: number, options: ModuleOptions) {
    super();
    this.fc1 = new Linear(numbers, width, options);
    this.fc2 = new Linear(width, width, options);
  }

  forward(state_BQ: Tensor): Tensor {
    return this.fc2.forward(gelu(this.fc1.forward(state_BQ)));
  }
}

export class OpenVlaOftModel extends Module {
  readonly vision_backbone: VisionBackbone;
  readonly projector: Projector;
  readonly language_model: Llama;
  readonly proprio_projector: ProprioProjector | undefined;
  readonly value_head: ValueHead | undefined;
  readonly #config: PrismaticConfig;
  readonly #shape: OftShape;

  constructor(config: PrismaticConfig, shape: OftShape, options: ModuleOptions = {}) {
    super();
    const width = config.text.hidden_size;
    this.vision_backbone = new VisionBackbone(config, options);
    this.projector = new Projector(config, options);
    this.language_model = new Llama(config.text, options);
    this.proprio_projector =
      shape.proprio > 0 ? new ProprioProjector(shape.proprio, width, options) : undefined;
    this.value_head = shape.values > 0 ? new ValueHead(width, shape.values, options) : undefined;
    this.#config = config;
    this.#shape = shape;
  }

  /** Pixels [B, 6·N, S, S] to patch features [B, N·P, C]: the part that a frozen backbone may remember. */
  see(pixels_BKSS: Tensor): Tensor {
    return this.vision_backbone.forward(pixels_BKSS);
  }

  /** Everything in the order that the variant's checkpoints expect. */
  sequence({ features_BPC, prompt, proprio_BQ }: OftInputs): Sequence {
    const { variant, actionTokens, endId } = this.#shape;
    const patches_BPD = this.projector.forward(features_BPC);
    const state =
      this.proprio_projector && proprio_BQ ? [this.#state(this.proprio_projector, proprio_BQ)] : [];
    const seen_BPD = state.length > 0 ? cat([patches_BPD, ...state], 1) : patches_BPD;
    const embed = (ids: Tensor): Tensor => this.language_model.embed(ids);
    return variant === "rlinf"
      ? rlinfSequence(prompt, seen_BPD, actionTokens, embed)
      : officialSequence(prompt, seen_BPD, actionTokens, embed, endId);
  }

  /** What every layer needs to know. Without a single pad there is no mask, and attention may run faster. */
  context({ mask_BS, positions_BS, embeddings_BSD }: Sequence, padded: boolean): Context {
    const { hidden_size, num_attention_heads, rope_theta } = this.#config.text;
    const rotation = rotationFor(
      positions_BS,
      hidden_size / num_attention_heads,
      rope_theta,
      embeddings_BSD.dtype,
    );
    return padded ? { mask: mask_BS.unsqueeze(1).unsqueeze(1), rotation } : { rotation };
  }

  /** `padded` false promises that the prompt has no pad at all. */
  forward(inputs: OftInputs, padded = true): OftAnswer {
    const sequence = this.sequence(inputs);
    const context = this.context(sequence, padded);
    const asked = this.#asked(sequence);
    const hidden = this.language_model.layers(sequence.embeddings_BSD, context, asked);
    return this.answer(hidden, sequence, asked);
  }

  /** Logits and values from the last layer's output, which covers `asked` or the whole sequence. */
  answer(hidden: Tensor, sequence: Sequence, asked?: Span): OftAnswer {
    const { actionTokens } = this.#shape;
    const { vocabulary, actionBins } = this.#config;
    const start = asked?.start ?? 0;
    const read_BAD = takeRows(hidden, sequence.firstAction, start, actionTokens);
    const logits_BAV = this.language_model.logits(read_BAD, vocabulary - actionBins, actionBins);
    const value_BD = hidden.select(1, sequence.valueAt - start);
    const values_BV = this.value_head?.forward(this.language_model.model.norm.forward(value_BD)).float();
    return { logits_BAV, values_BV };
  }

  /** The rlinf variant reads the same positions of every row, so its last layer need not answer for others. */
  #asked({ firstAction }: Sequence): Span | undefined {
    return typeof firstAction === "number"
      ? { start: firstAction, length: this.#shape.actionTokens }
      : undefined;
  }

  #state(projector: ProprioProjector, proprio_BQ: Tensor): Tensor {
    const dtype = projector.fc1.weight.dtype;
    return projector.forward(proprio_BQ.to({ dtype })).unsqueeze(1);
  }
}

/** `count` rows from `first` on; `first` may differ from row to row of the batch. */
function takeRows(x_BLD: Tensor, first: number | Tensor, start: number, count: number): Tensor {
  if (typeof first === "number") return x_BLD.narrow(1, first - start, count);
  const D = x_BLD.shape[2] ?? 0;
  const rows_BA = first.unsqueeze(1).add(arange(0, count, 1, { dtype: "int64", device: x_BLD.device }));
  return x_BLD.gather(1, rows_BA.unsqueeze(2).expand([-1, -1, D]));
}
