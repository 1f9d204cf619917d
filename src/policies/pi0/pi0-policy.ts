/**
 * π0 as a policy: denoises a chunk of actions, judges its own chains, and learns from demonstrations.
 *
 * Temperature and top-k have no meaning for it: how much it explores is a setting of its own (noise_level, or the
 * learned deviation). Greedy acting follows the ODE, from a first draw that is always the same unless a stream is
 * given; then it is drawn, as in the reference's evaluation.
 *
 * Shapes: B batch, N steps, H actions of the horizon, A numbers in a model action, C actions carried out, D numbers
 * in an environment's action.
 */
import type { ForwardInputs, Observation, PolicyEvaluation, PolicyStep } from "#data";
import { CapturedForward } from "#nn";
import { type Device, type DType, noGrad, randn, scope, type Tensor, tensor } from "#tensor";
import type {
  ActOptions,
  EvaluateOptions,
  LearnOptions,
  Part,
  Policy,
  SaveOptions,
  SupervisedOptions,
} from "../policy.ts";
import type { Pi0Codec } from "./actions.ts";
import type { Denoiser, Judgment, Scene } from "./denoiser.ts";
import { type ChainShape, drawCertain, drawChains, drawTimes, prolong } from "./draws.ts";
import { expertChain, learnByChain, partsOf, wholeChain } from "./layers.ts";
import type { Pi0Model, PrefixInputs } from "./model.ts";
import type { Pi0Reader } from "./reader.ts";
import type { Reading } from "./towers.ts";

export interface Pi0Parts {
  readonly module: Pi0Model;
  readonly denoiser: Denoiser;
  readonly codec: Pi0Codec;
  readonly reader: Pi0Reader;
  readonly device: Device;
  readonly dtype: DType;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  readonly shape: ChainShape;
  /** A critic that reads the vision-language model needs its whole answer, padding and absent cameras included. */
  readonly reading: Reading;
  /** Acting replays captured CUDA graphs. */
  readonly cudaGraphs: boolean;
  readonly save: (folder: string, options: SaveOptions) => Promise<void>;
}

export class Pi0Policy implements Policy {
  readonly modelType = "openpi";
  readonly module: Pi0Model;
  readonly device: Device;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  readonly dtype: DType;
  readonly codec: Pi0Codec;
  readonly denoiser: Denoiser;
  readonly reader: Pi0Reader;
  readonly #parts: Pi0Parts;
  readonly #captured: CapturedForward | undefined;

  constructor(parts: Pi0Parts) {
    this.module = parts.module;
    this.device = parts.device;
    this.chunk = parts.chunk;
    this.actionSize = parts.actionSize;
    this.valueCount = parts.valueCount;
    this.dtype = parts.dtype;
    this.codec = parts.codec;
    this.denoiser = parts.denoiser;
    this.reader = parts.reader;
    this.#parts = parts;
    this.#captured = parts.cudaGraphs
      ? new CapturedForward((fed, variant) => this.#draw(fed, variant))
      : undefined;
  }

  get parts(): readonly Part[] {
    return partsOf(this.module, this.#parts.reading);
  }

  requireReadable(tasks: readonly string[]): void {
    this.reader.requireReadable(tasks);
  }

  act(observation: Observation, { mode, generator }: ActOptions): PolicyStep {
    return scope(() =>
      noGrad(() => {
        const inputs = this.reader.describe(observation);
        const drawn = mode === "sample" ? drawChains : drawCertain;
        const { noise, steps_BN } = drawn(inputs.state!.size(0), this.#parts.shape, generator);
        return this.#step({ ...inputs, denoise_inds: steps_BN.cpu() }, noise, observation.states);
      }),
    );
  }

  #step(inputs: ForwardInputs, noise: Tensor, states_BQ: Tensor): PolicyStep {
    const { stages, logProbs, values } = this.#drawn(inputs, noise);
    const chains = stages!.cpu();
    return {
      actions: this.#toEnv(chains.select(1, chains.size(1) - 1), states_BQ),
      logProbs: this.#cut(logProbs!).cpu().contiguous(),
      ...(values && { values: values.cpu() }),
      forwardInputs: { ...inputs, chains },
    };
  }

  /** The whole pass, from pictures to chains: replayed from a captured graph where that is wanted. */
  #drawn(inputs: ForwardInputs, noise: Tensor): Readonly<Record<string, Tensor>> {
    const { device } = this;
    const { fed, padded } = this.reader.seen(inputs, this.#parts.reading.whole);
    const all = { ...fed, noise: noise.to({ device }), denoise_inds: inputs.denoise_inds!.to({ device }) };
    const variant = padded ? "padded" : "even";
    return this.#captured ? this.#captured.run(all, variant) : this.#draw(all, variant);
  }

  /** A pure function of tensors on the device. */
  #draw(fed: Readonly<Record<string, Tensor>>, variant: string): Record<string, Tensor> {
    const { reading } = this.#parts;
    const prefix = this.reader.prefixInputs(fed, variant === "padded", reading.whole);
    const scene = { memory: this.module.remember(prefix, reading), state_BA: fed.state! };
    const chain = this.denoiser.draw(scene, fed.noise!.unbind(0), fed.denoise_inds!);
    const { stages_BNHA: stages, logProbs_BHA: logProbs, values_B1: values } = chain;
    return { stages, logProbs, ...(values && { values }) };
  }

  evaluate(
    { forwardInputs: inputs }: { readonly forwardInputs: ForwardInputs },
    options: EvaluateOptions = {},
  ): PolicyEvaluation {
    const { chains, denoise_inds } = this.#onDevice(inputs);
    return this.#evaluation(this.denoiser.judge(this.scene(inputs), chains, denoise_inds), options);
  }

  #onDevice({ chains, denoise_inds }: ForwardInputs) {
    const { device } = this;
    return { chains: chains!.to({ device }), denoise_inds: denoise_inds!.to({ device }) };
  }

  #evaluation(judged: Judgment, { entropy }: EvaluateOptions): PolicyEvaluation {
    const { entropy_BHA } = judged;
    const sent_BHA = entropy === "measured" ? entropy_BHA?.detach() : entropy_BHA;
    return {
      logProbs: this.#cut(judged.logProbs_BHA),
      ...(entropy && sent_BHA && { entropy: this.#cut(sent_BHA) }),
      ...(judged.values_B1 && { values: judged.values_B1 }),
    };
  }

  learn(
    sample: { readonly forwardInputs: ForwardInputs },
    options: LearnOptions,
    lossOf: (evaluation: PolicyEvaluation) => Tensor,
  ): void {
    scope(() => {
      if (!options.checkpointing && !options.keeper) lossOf(this.evaluate(sample, options)).backward();
      else this.#learnByLayers(sample.forwardInputs, options, lossOf);
    });
  }

  #learnByLayers(
    inputs: ForwardInputs,
    options: LearnOptions,
    lossOf: (evaluation: PolicyEvaluation) => Tensor,
  ): void {
    const { reading } = this.#parts;
    const { chains, denoise_inds } = this.#onDevice(inputs);
    const passes = this.denoiser.passes(chains, denoise_inds);
    const chain = reading.trained
      ? wholeChain(
          this.module,
          this.prefix(inputs),
          inputs.state!.to({ device: this.device }),
          passes,
          reading,
        )
      : expertChain(this.module, this.scene(inputs), passes);
    learnByChain(
      this.module,
      chain,
      ({ ofExpert, output_BPD }) =>
        lossOf(this.#evaluation(this.denoiser.conclude(passes, ofExpert, output_BPD), options)),
      options.keeper,
    );
  }

  label(observation: Observation, actions_BCD: Tensor): ForwardInputs {
    return scope(() => {
      const demonstrated_actions = this.codec.fromEnv(actions_BCD, observation.states);
      return { ...this.reader.describe(observation), demonstrated_actions };
    });
  }

  /**
   * Flow matching: the mean squared error of the velocity, at a random time of a random path to each demonstration.
   *
   * Demonstrations shorter than the horizon are prolonged by their last action, which is not counted.
   */
  supervisedLoss(
    { forwardInputs: inputs }: { readonly forwardInputs: ForwardInputs },
    { generator }: SupervisedOptions = {},
  ): Tensor {
    const { device } = this;
    const actions_BCA = inputs.demonstrated_actions!;
    const [B = 0, C = 0, A = 0] = actions_BCA.shape;
    const H = this.module.config.action_horizon;
    const noise_BHA = inputs.noise ?? randn([B, H, A], { generator });
    const time_B = inputs.time ?? drawTimes(B, generator);
    const loss_BHA = this.denoiser.matchingLoss(
      this.scene(inputs),
      prolong(actions_BCA, H).to({ device }),
      noise_BHA.to({ device }),
      time_B.to({ device }),
    );
    return loss_BHA.narrow(1, 0, C).mean();
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

  /** Runs the vision-language model on recorded inputs. When it is frozen, nothing of it is kept for gradients. */
  scene(inputs: ForwardInputs): Scene {
    const { reading } = this.#parts;
    const run = () => this.module.remember(this.prefix(inputs), reading);
    const memory = reading.trained ? run() : noGrad(run);
    return { memory, state_BA: inputs.state!.to({ device: this.device }) };
  }

  /** The vision-language model's input; `whole` as the critic needs it, unless said otherwise. */
  prefix(inputs: ForwardInputs, whole = this.#parts.reading.whole): PrefixInputs {
    const { fed, padded } = this.reader.seen(inputs, whole);
    return this.reader.prefixInputs(fed, padded, whole);
  }

  #toEnv(actions_BHA: Tensor, states_BQ: Tensor): Tensor {
    const values = Float32Array.from(this.codec.toEnv(actions_BHA, states_BQ));
    return tensor(values, { shape: [actions_BHA.size(0), this.chunk, this.actionSize] });
  }

  /** What the environment carries out of a horizon of padded actions: [B, H, A] to [B, C, D]. */
  #cut(x_BHA: Tensor): Tensor {
    return x_BHA.narrow(1, 0, this.chunk).narrow(2, 0, this.actionSize);
  }
}
