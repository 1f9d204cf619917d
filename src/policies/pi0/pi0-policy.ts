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
import { type Device, type DType, noGrad, randn, scope, type Tensor, tensor } from "#tensor";
import type {
  ActOptions,
  EvaluateOptions,
  LearnOptions,
  Policy,
  SaveOptions,
  SupervisedOptions,
} from "../policy.ts";
import type { PromptTokenizer } from "../prismatic/tokenizer.ts";
import type { Pi0Codec } from "./actions.ts";
import type { Denoiser, Judgement, Scene } from "./denoiser.ts";
import { type ChainShape, drawCertain, drawChains, drawTimes, prolong } from "./draws.ts";
import { expertChain, learnByChain, wholeChain } from "./layers.ts";
import { cameraSlots, type Pi0Model, type PrefixInputs } from "./model.ts";
import { padRight, promptRows, takePictures, toPixels, trimRight } from "./prompt.ts";
import type { Reading } from "./towers.ts";

export interface Pi0Parts {
  readonly module: Pi0Model;
  readonly denoiser: Denoiser;
  readonly codec: Pi0Codec;
  readonly tokenizer: () => PromptTokenizer;
  readonly device: Device;
  readonly dtype: DType;
  readonly chunk: number;
  readonly actionSize: number;
  readonly valueCount: number;
  readonly cameras: number;
  readonly shape: ChainShape;
  /** A critic that reads the vision-language model needs its whole answer, padding and absent cameras included. */
  readonly reading: Reading;
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
  readonly #parts: Pi0Parts;

  constructor(parts: Pi0Parts) {
    this.module = parts.module;
    this.device = parts.device;
    this.chunk = parts.chunk;
    this.actionSize = parts.actionSize;
    this.valueCount = parts.valueCount;
    this.dtype = parts.dtype;
    this.codec = parts.codec;
    this.denoiser = parts.denoiser;
    this.#parts = parts;
  }

  act(observation: Observation, { mode, generator }: ActOptions): PolicyStep {
    return scope(() =>
      noGrad(() => {
        const inputs = this.describe(observation);
        const drawn = mode === "sample" ? drawChains : drawCertain;
        const { noise, steps_BN } = drawn(inputs.state!.size(0), this.#parts.shape, generator);
        return this.#step({ ...inputs, denoise_inds: steps_BN.cpu() }, noise, observation.states);
      }),
    );
  }

  #step(inputs: ForwardInputs, noise: Tensor, states_BQ: Tensor): PolicyStep {
    const { device } = this;
    const steps_BN = inputs.denoise_inds!.to({ device });
    const chain = this.denoiser.draw(this.scene(inputs), noise.to({ device }).unbind(0), steps_BN);
    const stages_BNHA = chain.stages_BNHA.cpu();
    const last_BHA = stages_BNHA.select(1, stages_BNHA.size(1) - 1);
    return {
      actions: this.#toEnv(last_BHA, states_BQ),
      logProbs: this.#cut(chain.logProbs_BHA).cpu().contiguous(),
      ...(chain.values_B1 && { values: chain.values_B1.cpu() }),
      forwardInputs: { ...inputs, chains: stages_BNHA },
    };
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

  #evaluation(judged: Judgement, { entropy = false }: EvaluateOptions): PolicyEvaluation {
    return {
      logProbs: this.#cut(judged.logProbs_BHA),
      ...(entropy && { entropy: this.#cut(judged.entropy_BHA) }),
      ...(judged.values_B1 && { values: judged.values_B1 }),
    };
  }

  learn(
    sample: { readonly forwardInputs: ForwardInputs },
    options: LearnOptions,
    lossOf: (evaluation: PolicyEvaluation) => Tensor,
  ): void {
    scope(() => {
      if (!options.checkpointing) lossOf(this.evaluate(sample, options)).backward();
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
          this.prefixInputs(inputs, reading.whole),
          this.#state(inputs),
          passes,
          reading,
        )
      : expertChain(this.module, this.scene(inputs), passes);
    learnByChain(this.module, chain, ({ ofExpert, output_BPD }) =>
      lossOf(this.#evaluation(this.denoiser.conclude(passes, ofExpert, output_BPD), options)),
    );
  }

  label(observation: Observation, actions_BCD: Tensor): ForwardInputs {
    return scope(() => {
      const demonstrated_actions = this.codec.fromEnv(actions_BCD, observation.states);
      return { ...this.describe(observation), demonstrated_actions };
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

  save(folder: string, options: SaveOptions = {}): Promise<void> {
    return this.#parts.save(folder, options);
  }

  dispose(): void {
    this.module.dispose();
  }

  /** Forward inputs of an observation, on the host, without actions. */
  describe(observation: Observation): ForwardInputs {
    const { codec, cameras, tokenizer, module } = this.#parts;
    const { max_token_len: length, discrete_state_input: spelled, sizes } = module.config;
    const state = codec.normalizedState(observation.states);
    const rows = promptRows(tokenizer(), observation.taskDescriptions, spelled ? state : undefined);
    const { ids_BL, mask_BL } = padRight(rows, length);
    return {
      images: takePictures(observation, cameras, sizes.vision.image_size),
      tokenized_prompt: ids_BL,
      tokenized_prompt_mask: mask_BL,
      state: codec.padState(state),
    };
  }

  /** Runs the vision-language model on recorded inputs. When it is frozen, nothing of it is kept for gradients. */
  scene(inputs: ForwardInputs): Scene {
    const { reading } = this.#parts;
    const run = () => this.module.remember(this.prefixInputs(inputs, reading.whole), reading);
    return { memory: reading.trained ? run() : noGrad(run), state_BA: this.#state(inputs) };
  }

  #state({ state }: ForwardInputs): Tensor {
    return state!.to({ device: this.device });
  }

  /** `whole` keeps what nobody looks at: padding, and black pictures for absent cameras. */
  prefixInputs(inputs: ForwardInputs, whole: boolean): PrefixInputs {
    const { device } = this;
    const given = { ids_BL: inputs.tokenized_prompt!, mask_BL: inputs.tokenized_prompt_mask! };
    const { ids_BL, mask_BL, padded } = whole ? { ...given, padded: true } : trimRight(given);
    return {
      pixels_BNCSS: toPixels(inputs.images!.to({ device })),
      blanks: whole ? cameraSlots - inputs.images!.size(1) : 0,
      ids_BL: ids_BL.to({ device }),
      mask_BL: mask_BL.to({ device }),
      padded,
    };
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
