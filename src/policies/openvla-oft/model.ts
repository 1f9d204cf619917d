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
import { type Context, Llama, type Span } from "../prismatic/llama.ts";
import type { PromptBatch } from "../prismatic/prompts.ts";
import { rotationFor } from "../prismatic/rotary.ts";
import {
  type Layout,
  officialEmbeddings,
  officialLayout,
  rlinfEmbeddings,
  rlinfLayout,
} from "../prismatic/sequence.ts";
import type { TokenAnswer } from "../prismatic/token-policy.ts";
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

export type OftAnswer = TokenAnswer;

const joinPart: Part = ["projector", "language_model.model.embed_tokens", "proprio_projector"];
const answerPart: Part = ["language_model.model.norm", "language_model.lm_head", "value_head"];

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

  /** How many tokens pictures and state become. */
  seenTokens(pictures: number): number {
    return pictures * this.#config.patches + (this.proprio_projector ? 1 : 0);
  }

  /** Who stands where, from the prompt's mask alone. */
  layout(mask_BL: Tensor, seen: number): Layout {
    const { variant, actionTokens } = this.#shape;
    return (variant === "rlinf" ? rlinfLayout : officialLayout)(mask_BL, seen, actionTokens);
  }

  /** The language model's input, in the order that the variant's checkpoints expect: [B, S, D]. */
  embed({ features_BPC, prompt, proprio_BQ }: OftInputs, { order_BT }: Layout): Tensor {
    const { actionTokens, endId } = this.#shape;
    const patches_BPD = this.projector.forward(features_BPC);
    const seen_BPD = this.proprio_projector ? cat([patches_BPD, this.#state(proprio_BQ)], 1) : patches_BPD;
    const words_BLD = this.language_model.embed(prompt.ids_BL);
    if (!order_BT) return rlinfEmbeddings(words_BLD, seen_BPD, actionTokens);
    const ids_B1 = prompt.ids_BL.slice(1, 0, 1);
    const end_B1D = this.language_model.embed(ids_B1.mul(0).add(endId));
    return officialEmbeddings(words_BLD, end_B1D, seen_BPD, actionTokens, order_BT);
  }

  /** What every layer needs to know. Without a single pad there is no mask, and attention may run faster. */
  context({ mask_BS, positions_BS }: Layout, padded: boolean): Context {
    const { hidden_size, num_attention_heads, rope_theta } = this.#config.text;
    const { dtype } = this.language_model.model.norm.weight;
    const rotation = rotationFor(positions_BS, hidden_size / num_attention_heads, rope_theta, dtype);
    return padded ? { mask: mask_BS.unsqueeze(1).unsqueeze(1), rotation } : { rotation };
  }

  /** `padded` false promises that the prompt has no pad at all. */
  forward(inputs: OftInputs, padded = true): OftAnswer {
    const pictures = inputs.features_BPC.size(1) / this.#config.patches;
    const layout = this.layout(inputs.prompt.mask_BL, this.seenTokens(pictures));
    const asked = this.asked(layout);
    const x_BSD = this.embed(inputs, layout);
    const hidden = this.language_model.layers(x_BSD, this.context(layout, padded), asked);
    return this.answer(hidden, layout, asked);
  }

  /** The same as `forward`, as a chain of layers. It begins with pixels, or with features that are known. */
  chain(
    seen: Seen,
    rest: Omit<OftInputs, "features_BPC">,
    pictures: number,
    padded: boolean,
  ): Chain<OftAnswer> {
    const layout = this.layout(rest.prompt.mask_BL, this.seenTokens(pictures));
    const asked = this.asked(layout);
    const join: PlacedLayer = {
      ...placed(this, joinPart),
      forward: ([features_BPC]) => [this.embed({ ...rest, features_BPC: features_BPC! }, layout)],
    };
    const vision = seen.features_BPC ? [] : visionLayers(this, rest.prompt.ids_BL.size(0));
    return {
      layers: [...vision, join, ...decoderLayers(this, this.context(layout, padded), asked)],
      inputs: [seen.features_BPC ?? seen.pixels_BKSS],
      answer: (hidden) => this.answer(hidden, layout, asked),
      answerPart,
    };
  }

  /** Every piece of a chain. */
  parts(): Part[] {
    const { before, blocks, unread } = visionParts(this);
    return [before, ...blocks, unread, joinPart, ...decoderParts(this), answerPart];
  }

  /** Logits and values from the last layer's output, which covers `asked` or the whole sequence. */
  answer(hidden: Tensor, layout: Layout, asked?: Span): OftAnswer {
    const { actionTokens } = this.#shape;
    const { vocabulary, actionBins } = this.#config;
    const start = asked?.start ?? 0;
    const read_BAD = takeRows(hidden, layout.firstAction, start, actionTokens);
    const logits_BAV = this.language_model.logits(read_BAD, vocabulary - actionBins, actionBins);
    const value_BD = hidden.select(1, layout.valueAt - start);
    const values_BV = this.value_head?.forward(this.language_model.model.norm.forward(value_BD)).float();
    return { logits_BAV, values_BV };
  }

  /** The rlinf variant reads the same positions of every row, so its last layer need not answer for others. */
  asked({ firstAction }: Layout): Span | undefined {
    return typeof firstAction === "number"
      ? { start: firstAction, length: this.#shape.actionTokens }
      : undefined;
  }

  /** Proprioception as one more token: [B, 1, D]. */
  #state(proprio_BQ: Tensor | undefined): Tensor {
    if (!this.proprio_projector || !proprio_BQ)
      throw new Error("internal: proprioception is read but not given");
    const { dtype } = this.language_model.model.norm.weight;
    return this.proprio_projector.forward(proprio_BQ.to({ dtype })).unsqueeze(1);
  }
}

/** `count` rows from `first` on; `first` may differ from row to row of the batch. */
function takeRows(x_BLD: Tensor, first: number | Tensor, start: number, count: number): Tensor {
  if (typeof first === "number") return x_BLD.narrow(1, first - start, count);
  const D = x_BLD.shape[2] ?? 0;
  const rows_BA = first.unsqueeze(1).add(arange(0, count, 1, { dtype: "int64", device: x_BLD.device }));
  return x_BLD.gather(1, rows_BA.unsqueeze(2).expand([-1, -1, D]));
}
