/**
 * What OpenVLA and OpenVLA-OFT policies share around their networks: observations in, recorded steps out.
 *
 * Everything recorded is kept on the host in its smallest exact form: bytes for pictures, ids for words and actions.
 *
 * Shapes: B batch, C actions in a chunk, D numbers in an action, A = C·D tokens.
 */
import type { ForwardInputs, Observation, PolicyEvaluation, PolicyStep } from "#data";
import { type Device, type DType, noGrad, scope, type Tensor } from "#tensor";
import type { SaveOptions } from "../policy.ts";
import type { ActionCodec } from "./actions.ts";
import type { ImageProcessor } from "./images.ts";
import type { Seen } from "./layers.ts";
import { describe, type PromptOptions } from "./observe.ts";
import { type PromptBatch, requirePromptsFit, trimPadding } from "./prompts.ts";
import type { Judgment } from "./sampling.ts";
import type { PromptTokenizer } from "./tokenizer.ts";

export interface PrismaticParts<M = { see(pixels: Tensor): Tensor }> {
  readonly module: M;
  readonly tokenizer: () => PromptTokenizer;
  readonly images: ImageProcessor;
  readonly codec: ActionCodec;
  readonly prompt: PromptOptions;
  readonly device: Device;
  readonly dtype: DType;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  /** Neither tower is trained: what they saw is recorded, and never computed again. */
  readonly freezeVision: boolean;
  readonly trimPadding: boolean;
  /** Acting replays captured CUDA graphs. */
  readonly cudaGraphs: boolean;
  readonly save: (folder: string, options: SaveOptions) => Promise<void>;
}

type Judged = Judgment & { readonly values_BV: Tensor | undefined };

export class PrismaticReader {
  readonly #parts: PrismaticParts;

  constructor(parts: PrismaticParts) {
    this.#parts = parts;
  }

  /** Forward inputs of an observation, without the actions. */
  describe(observation: Observation): ForwardInputs {
    const { images, prompt, freezeVision, device, tokenizer } = this.#parts;
    const inputs = describe(observation, { tokenizer: tokenizer(), images }, prompt, device);
    return freezeVision ? { ...inputs, vision_features: this.features(inputs) } : inputs;
  }

  requireReadable(tasks: readonly string[]): void {
    const { tokenizer, prompt } = this.#parts;
    requirePromptsFit(tokenizer(), tasks, prompt.promptLength);
  }

  label(observation: Observation, actions_BCD: Tensor): ForwardInputs {
    return scope(() => {
      const ids_BA = this.#parts.codec.encode(actions_BCD);
      return noGrad(() =>
        this.#recorded({ ...this.describe(observation), action_tokens: this.#chunked(ids_BA) }),
      );
    });
  }

  /** What the towers saw, computed or remembered: [B, N·P, C]. */
  features(inputs: ForwardInputs): Tensor {
    return this.knownFeatures(inputs) ?? this.#parts.module.see(this.pixels(inputs));
  }

  /** What a frozen backbone was recorded to have seen. */
  knownFeatures({ vision_features }: ForwardInputs): Tensor | undefined {
    const { device, dtype } = this.#parts;
    return vision_features?.to({ device, dtype });
  }

  /** Where a chain of layers begins. */
  seen(inputs: ForwardInputs): Seen {
    const features_BPC = this.knownFeatures(inputs);
    return features_BPC ? { features_BPC } : { pixels_BKSS: this.pixels(inputs) };
  }

  /** [B, 6·N, S, S] on the device. */
  pixels({ images: images_BNCSS }: ForwardInputs): Tensor {
    const { images, device, dtype } = this.#parts;
    return images.pixels(images_BNCSS!.to({ device }), dtype);
  }

  /** The prompt on the device, without padding that nobody needs. */
  prompt(inputs: ForwardInputs): { prompt: PromptBatch; padded: boolean } {
    const given = { ids_BL: inputs.input_ids!, mask_BL: inputs.attention_mask! };
    const { prompt, padded } = this.#parts.trimPadding ? trimPadding(given) : { prompt: given, padded: true };
    const { device } = this.#parts;
    return {
      prompt: { ids_BL: prompt.ids_BL.to({ device }), mask_BL: prompt.mask_BL.to({ device }) },
      padded,
    };
  }

  /** Recorded ids, counted from the first action id: int64 [B, A] on the device. */
  tokens({ action_tokens }: ForwardInputs): Tensor {
    const { device, codec } = this.#parts;
    return action_tokens!.to({ device }).flatten(1).sub(codec.tokens.firstId);
  }

  /** What acting answers, on the host. */
  step(inputs: ForwardInputs, tokens_BA: Tensor, { logProbs_BA, values_BV }: Judged): PolicyStep {
    const ids_BA = tokens_BA.add(this.#parts.codec.tokens.firstId);
    return {
      actions: this.#parts.codec.decode(ids_BA),
      logProbs: this.#chunked(logProbs_BA).cpu(),
      ...(values_BV && { values: values_BV.cpu() }),
      forwardInputs: this.#recorded({ ...inputs, action_tokens: this.#chunked(ids_BA) }),
    };
  }

  evaluation({ logProbs_BA, entropy_BA, values_BV }: Judged): PolicyEvaluation {
    return {
      logProbs: this.#chunked(logProbs_BA),
      ...(entropy_BA && { entropy: this.#chunked(entropy_BA) }),
      ...(values_BV && { values: values_BV }),
    };
  }

  #recorded(inputs: ForwardInputs): ForwardInputs {
    return Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, value.cpu()]));
  }

  #chunked(x_BA: Tensor): Tensor {
    return x_BA.unflatten(1, [this.#parts.chunk, this.#parts.actionSize]);
  }
}
