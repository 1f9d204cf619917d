/**
 * OpenVLA as a policy: one action of D tokens at a time, decoded one after the other.
 *
 * Shapes: B batch, D numbers in an action (= tokens), V action ids.
 */
import type { ForwardInputs, Observation, PolicyEvaluation, PolicyStep } from "#data";
import { cat, type Device, type DType, noGrad, scope, type Tensor } from "#tensor";
import type { ActOptions, EvaluateOptions, LearnOptions, Part, Policy, SaveOptions } from "../policy.ts";
import type { ImageProcessor } from "../prismatic/images.ts";
import { type Chain, learnByLayers } from "../prismatic/layers.ts";
import { type PrismaticParts, PrismaticReader } from "../prismatic/reader.ts";
import { judge, logDistribution, sampleTokens } from "../prismatic/sampling.ts";
import type { ActionCodec } from "./actions.ts";
import type { OpenVlaAnswer, OpenVlaInputs, OpenVlaModel } from "./model.ts";

export class OpenVlaPolicy implements Policy {
  readonly modelType = "openvla";
  readonly module: OpenVlaModel;
  readonly device: Device;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  readonly dtype: DType;
  readonly codec: ActionCodec;
  readonly images: ImageProcessor;
  readonly #parts: PrismaticParts<OpenVlaModel>;
  readonly #reader: PrismaticReader;

  constructor(parts: PrismaticParts<OpenVlaModel>) {
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
  }

  get parts(): readonly Part[] {
    return this.module.parts();
  }

  act(observation: Observation, options: ActOptions): PolicyStep {
    return scope(() => noGrad(() => this.#act(this.#reader.describe(observation), options)));
  }

  #act(inputs: ForwardInputs, { mode, temperature = 1, topK = 0, generator }: ActOptions): PolicyStep {
    const greedy = mode === "greedy";
    const sampling = greedy ? { temperature: 1, topK: 0 } : { temperature, topK };
    const chosen: Tensor[] = [];
    const answer = this.module.decode(this.#fed(inputs), this.chunk * this.actionSize, (logits_BV) => {
      const logits_B1V = logits_BV.unsqueeze(1);
      const token_B1 = greedy
        ? logits_B1V.argmax(2)
        : sampleTokens(logDistribution(logits_B1V, sampling), generator);
      chosen.push(token_B1);
      return token_B1.squeeze(1);
    });
    const tokens_BA = cat(chosen, 1);
    return this.#reader.step(inputs, tokens_BA, {
      ...judge(logDistribution(answer.logits_BAV, sampling), tokens_BA, false),
      values_BV: answer.values_BV,
    });
  }

  evaluate(
    { forwardInputs }: { readonly forwardInputs: ForwardInputs },
    options: EvaluateOptions = {},
  ): PolicyEvaluation {
    return this.#judged(
      this.module.forward(this.#fed(forwardInputs), this.#ids(forwardInputs)),
      forwardInputs,
      options,
    );
  }

  #judged(
    { logits_BAV, values_BV }: OpenVlaAnswer,
    inputs: ForwardInputs,
    options: EvaluateOptions,
  ): PolicyEvaluation {
    const { temperature = 1, topK = 0, entropy = false } = options;
    const logProbs_BAV = logDistribution(logits_BAV, { temperature, topK });
    const judged = judge(logProbs_BAV, this.#reader.tokens(inputs), entropy);
    return this.#reader.evaluation({ ...judged, values_BV });
  }

  /** Recorded absolute ids, [B, A] on the device. */
  #ids(inputs: ForwardInputs): Tensor {
    return this.#reader.tokens(inputs).add(this.codec.tokens.firstId);
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

  #chain(inputs: ForwardInputs): Chain<OpenVlaAnswer> {
    const { prompt, padded } = this.#reader.prompt(inputs);
    return this.module.chain(this.#reader.seen(inputs), prompt, this.#ids(inputs), padded);
  }

  label(observation: Observation, actions_BCD: Tensor): ForwardInputs {
    return this.#reader.label(observation, actions_BCD);
  }

  /** Cross-entropy of the demonstrated tokens, averaged over all of them. */
  supervisedLoss(sample: { readonly forwardInputs: ForwardInputs }): Tensor {
    return this.evaluate(sample).logProbs.mean().neg();
  }

  save(folder: string, options: SaveOptions = {}): Promise<void> {
    return this.#parts.save(folder, options);
  }

  dispose(): void {
    this.module.dispose();
  }

  #fed(inputs: ForwardInputs): OpenVlaInputs {
    const { prompt, padded } = this.#reader.prompt(inputs);
    return { features_BPC: this.#reader.features(inputs), prompt, padded };
  }
}
