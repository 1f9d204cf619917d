/**
 * The OpenVLA-OFT network as a policy: acts, judges what it did, and learns from demonstrations.
 *
 * Acting and judging run the same operations on the same shapes, so in float32 their numbers are equal to the bit
 * for the same batch.
 */
import type { ForwardInputs, Observation, PolicyEvaluation, PolicyStep } from "#data";
import { type Device, type DType, noGrad, scope, type Tensor } from "#tensor";
import { CapturedForward } from "../captured-forward.ts";
import type { ActOptions, EvaluateOptions, LearnOptions, Part, Policy, SaveOptions } from "../policy.ts";
import type { ImageProcessor } from "../prismatic/images.ts";
import { type Chain, learnByLayers } from "../prismatic/layers.ts";
import { type PrismaticParts, PrismaticReader } from "../prismatic/reader.ts";
import { judge, logDistribution, sampleTokens } from "../prismatic/sampling.ts";
import type { ActionCodec } from "./actions.ts";
import type { OftAnswer, OpenVlaOftModel } from "./model.ts";

export class OpenVlaOftPolicy implements Policy {
  readonly modelType = "openvla_oft";
  readonly module: OpenVlaOftModel;
  readonly device: Device;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  readonly dtype: DType;
  readonly codec: ActionCodec;
  readonly images: ImageProcessor;
  readonly #parts: PrismaticParts<OpenVlaOftModel>;
  readonly #reader: PrismaticReader;
  readonly #captured: CapturedForward | undefined;

  constructor(parts: PrismaticParts<OpenVlaOftModel>) {
    this.module = parts.module;
    this.device = parts.device;
    this.chunk = parts.chunk;
    this.actionSize = parts.actionSize;
    this.valueCount = parts.valueCount;
    this.dtype = parts.dtype;
    this.codec = parts.codec;
    this.images = parts.images;
    this.#parts = parts;
    this.#reader = new PrismaticReader(parts);
    this.#captured = parts.cudaGraphs
      ? new CapturedForward((inputs, variant) => this.#capturable(inputs, variant))
      : undefined;
  }

  get parts(): readonly Part[] {
    return this.module.parts();
  }

  act(observation: Observation, options: ActOptions): PolicyStep {
    return scope(() => noGrad(() => this.#act(this.#reader.describe(observation), options)));
  }

  #act(inputs: ForwardInputs, { mode, temperature = 1, topK = 0, generator }: ActOptions): PolicyStep {
    const { logits_BAV, values_BV } = this.#captured
      ? this.#replay(this.#captured, inputs)
      : this.#forward(inputs);
    const greedy = mode === "greedy";
    const logProbs_BAV = logDistribution(
      logits_BAV,
      greedy ? { temperature: 1, topK: 0 } : { temperature, topK },
    );
    const tokens_BA = greedy ? logits_BAV.argmax(2) : sampleTokens(logProbs_BAV, generator);
    return this.#reader.step(inputs, tokens_BA, { ...judge(logProbs_BAV, tokens_BA, false), values_BV });
  }

  /** The same forward pass by a captured graph; all that it reads is on the device. */
  #replay(captured: CapturedForward, inputs: ForwardInputs): OftAnswer {
    const { device } = this;
    const { prompt, padded } = this.#reader.prompt(inputs);
    const seen = inputs.vision_features ? "vision_features" : "images";
    const { logits, values } = captured.run(
      {
        [seen]: inputs[seen]!.to({ device }),
        input_ids: prompt.ids_BL,
        attention_mask: prompt.mask_BL,
        ...(inputs.proprio && { proprio: inputs.proprio.to({ device }) }),
      },
      padded ? "padded" : "whole",
    );
    return { logits_BAV: logits!, values_BV: values };
  }

  #capturable(inputs: ForwardInputs, variant: string): Record<string, Tensor> {
    const prompt = { ids_BL: inputs.input_ids!, mask_BL: inputs.attention_mask! };
    const fed = { features_BPC: this.#reader.features(inputs), prompt, proprio_BQ: inputs.proprio };
    const { logits_BAV, values_BV } = this.module.forward(fed, variant === "padded");
    return { logits: logits_BAV, ...(values_BV && { values: values_BV }) };
  }

  evaluate(
    { forwardInputs }: { readonly forwardInputs: ForwardInputs },
    options: EvaluateOptions = {},
  ): PolicyEvaluation {
    return this.#judged(this.#forward(forwardInputs), forwardInputs, options);
  }

  #judged(
    { logits_BAV, values_BV }: OftAnswer,
    inputs: ForwardInputs,
    options: EvaluateOptions,
  ): PolicyEvaluation {
    const { temperature = 1, topK = 0, entropy = false } = options;
    const logProbs_BAV = logDistribution(logits_BAV, { temperature, topK });
    const judged = judge(logProbs_BAV, this.#reader.tokens(inputs), entropy);
    return this.#reader.evaluation({ ...judged, values_BV });
  }

  learn(
    sample: { readonly forwardInputs: ForwardInputs },
    options: LearnOptions,
    lossOf: (evaluation: PolicyEvaluation) => Tensor,
  ): void {
    const { forwardInputs: inputs } = sample;
    scope(() => {
      if (!options.checkpointing && !options.keeper) lossOf(this.evaluate(sample, options)).backward();
      else
        learnByLayers(
          this.module,
          this.#chain(inputs),
          (answer) => lossOf(this.#judged(answer, inputs, options)),
          options.keeper,
        );
    });
  }

  #chain(inputs: ForwardInputs): Chain<OftAnswer> {
    const { prompt, padded } = this.#reader.prompt(inputs);
    const rest = { prompt, proprio_BQ: inputs.proprio?.to({ device: this.device }) };
    return this.module.chain(this.#reader.seen(inputs), rest, inputs.images!.size(1), padded);
  }

  label(observation: Observation, actions_BCD: Tensor): ForwardInputs {
    return this.#reader.label(observation, actions_BCD);
  }

  /** Cross-entropy of the demonstrated tokens, averaged over all of them. */
  supervisedLoss(sample: { readonly forwardInputs: ForwardInputs }): Tensor {
    return this.evaluate(sample).logProbs.mean().neg();
  }

  weightsMoved(): void {
    this.#captured?.clear();
  }

  save(folder: string, options: SaveOptions = {}): Promise<void> {
    return this.#parts.save(folder, options);
  }

  dispose(): void {
    this.#captured?.clear();
    this.module.dispose();
  }

  #forward(inputs: ForwardInputs): OftAnswer {
    const { prompt, padded } = this.#reader.prompt(inputs);
    const proprio_BQ = inputs.proprio?.to({ device: this.device });
    return this.module.forward({ features_BPC: this.#reader.features(inputs), prompt, proprio_BQ }, padded);
  }
}
