/**
 * What policies that speak in action tokens share: OpenVLA-OFT says all tokens of a chunk at once, OpenVLA those of an action one by one.
 *
 * A family adds how it acts, its forward pass over recorded inputs, and the same pass as a chain of layers, for learning in little memory.
 *
 * Shapes: B batch, A tokens of an answer, V action ids.
 */
import type { ForwardInputs, Observation, PolicyEvaluation, PolicyStep } from "#data";
import type { Module } from "#nn";
import { type Device, type DType, noGrad, scope, type Tensor } from "#tensor";
import type { ActOptions, EvaluateOptions, LearnOptions, Part, Policy, SaveOptions } from "../policy.ts";
import type { ActionCodec } from "./actions.ts";
import type { ImageProcessor } from "./images.ts";
import { type Chain, learnByLayers } from "./layers.ts";
import { type PrismaticParts, PrismaticReader } from "./reader.ts";
import { judge, logDistribution } from "./sampling.ts";

export interface TokenAnswer {
  readonly logits_BAV: Tensor; // float32, action ids only
  readonly values_BV: Tensor | undefined; // float32
}

type Speaker = Module & { see(pixels: Tensor): Tensor; parts(): readonly Part[] };

export abstract class TokenPolicy<M extends Speaker> implements Policy {
  abstract readonly modelType: string;
  readonly module: M;
  readonly device: Device;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  readonly dtype: DType;
  readonly codec: ActionCodec;
  readonly images: ImageProcessor;
  protected readonly reader: PrismaticReader;
  readonly #save: PrismaticParts["save"];

  constructor(parts: PrismaticParts<M>) {
    this.module = parts.module;
    this.device = parts.device;
    this.chunk = parts.chunk;
    this.actionSize = parts.actionSize;
    this.valueCount = parts.valueCount;
    this.dtype = parts.dtype;
    this.codec = parts.codec;
    this.images = parts.images;
    this.reader = new PrismaticReader(parts);
    this.#save = parts.save;
  }

  /** Of inputs without actions. */
  protected abstract choose(inputs: ForwardInputs, options: ActOptions): PolicyStep;
  /** Of inputs with the actions that were taken. */
  protected abstract answer(inputs: ForwardInputs): TokenAnswer;
  protected abstract chain(inputs: ForwardInputs): Chain<TokenAnswer>;

  get parts(): readonly Part[] {
    return this.module.parts();
  }

  requireReadable(tasks: readonly string[]): void {
    this.reader.requireReadable(tasks);
  }

  act(observation: Observation, options: ActOptions): PolicyStep {
    return scope(() => noGrad(() => this.choose(this.reader.describe(observation), options)));
  }

  evaluate(
    { forwardInputs }: { readonly forwardInputs: ForwardInputs },
    options: EvaluateOptions = {},
  ): PolicyEvaluation {
    return this.#judged(this.answer(forwardInputs), forwardInputs, options);
  }

  #judged(
    { logits_BAV, values_BV }: TokenAnswer,
    inputs: ForwardInputs,
    { temperature = 1, topK = 0, entropy }: EvaluateOptions,
  ): PolicyEvaluation {
    const logProbs_BAV = logDistribution(logits_BAV, { temperature, topK });
    const judged = judge(logProbs_BAV, this.reader.tokens(inputs), entropy);
    return this.reader.evaluation({ ...judged, values_BV });
  }

  learn(
    sample: { readonly forwardInputs: ForwardInputs },
    options: LearnOptions,
    lossOf: (evaluation: PolicyEvaluation) => Tensor,
  ): void {
    const { forwardInputs: inputs } = sample;
    const lossOfAnswer = (answer: TokenAnswer): Tensor => lossOf(this.#judged(answer, inputs, options));
    scope(() => {
      if (!options.checkpointing && !options.keeper) lossOf(this.evaluate(sample, options)).backward();
      else learnByLayers(this.module, this.chain(inputs), lossOfAnswer, options.keeper);
    });
  }

  label(observation: Observation, actions_BCD: Tensor): ForwardInputs {
    return this.reader.label(observation, actions_BCD);
  }

  /** Cross-entropy of the demonstrated tokens, averaged over all of them. */
  supervisedLoss(sample: { readonly forwardInputs: ForwardInputs }): Tensor {
    return this.evaluate(sample).logProbs.mean().neg();
  }

  save(folder: string, options: SaveOptions = {}): Promise<void> {
    return this.#save(folder, options);
  }

  dispose(): void {
    this.module.dispose();
  }
}
