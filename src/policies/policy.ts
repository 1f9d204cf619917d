/**
 * What every policy family offers, whatever its network: acting, judging recorded actions, learning from
 * demonstrations, and going back to disk in the layout it came from.
 *
 * `act` and `evaluate` compute the same numbers by the same operations, so that the first ratio of a PPO or
 * GRPO update is 1 and not nearly 1.
 */
import type { z } from "zod";
import type { ActionSpec, ForwardInputs, Observation, PolicyEvaluation, PolicyStep } from "#data";
import type { Module } from "#nn";
import type { FamilySettings } from "#registry";
import type { Device, DType, Generator, Tensor } from "#tensor";

export interface Sampling {
  /** Divides the logits; 1 leaves them as they are. */
  readonly temperature?: number;
  /** How many of the likeliest tokens stay possible; 0 or less means all. */
  readonly topK?: number;
}

export interface ActOptions extends Sampling {
  readonly mode: "sample" | "greedy";
  /**
   * The random stream that samples, or one on the CPU for each row: then a row's sample does not depend on who is beside it.
   * Without any, libtorch's global stream.
   */
  readonly generator?: Generator | readonly Generator[] | undefined;
}

export interface EvaluateOptions extends Sampling {
  /** Entropies too: to learn from, or only to be looked at, without gradients. */
  readonly entropy?: "learned" | "measured" | undefined;
}

/** Where the weights of one piece of a network are: paths of fields, as in names of parameters. */
export type Part = readonly string[];

/**
 * Who holds the weights of a network whose parts are here only while they work, and gets their gradients.
 *
 * A policy asks for parts in an order that depends on nothing but its settings, so that ranks which hold a share each ask alike.
 */
export interface WeightKeeper {
  bring(part: Part): void;
  /** After a backward pass the part's gradients are in `.grad`. */
  take(part: Part, after: "forward" | "backward"): void;
}

export interface LearnOptions extends EvaluateOptions {
  /** The weights of `Policy.parts` are not here: learns layer by layer, whatever `checkpointing` says. */
  readonly keeper?: WeightKeeper | undefined;
  /** Keeps each layer's input only and computes the rest again on the way back: less memory, a third more work. */
  readonly checkpointing?: boolean;
}

export interface SupervisedOptions {
  /** For losses that are an expectation (flow matching): the stream on the CPU that samples it. Others need none. */
  readonly generator?: Generator | undefined;
}

export interface SaveOptions {
  /** The weights' type on disk; as in memory unless said otherwise. */
  readonly dtype?: DType;
}

export interface Policy {
  /** The registry's name of the family. */
  readonly modelType: string;
  /** All weights, under the names of the published checkpoints. */
  readonly module: Module;
  readonly device: Device;
  /** Actions in a chunk, and numbers in an action. */
  readonly chunk: number;
  readonly actionSize: number;
  /** Values per decision: 0 without a critic. */
  readonly valueCount: number;
  /** Pieces whose weights need to be here only while they work, when the policy learns. */
  readonly parts: readonly Part[];

  /** Refuses sentences that it cannot read, so that this is known before anything is played. */
  requireReadable(tasks: readonly string[]): void;
  act(observation: Observation, options: ActOptions): PolicyStep;
  /** The recorded sample once more, with gradients. A `Minibatch` or a `PolicyStep` both fit. */
  evaluate(sample: { readonly forwardInputs: ForwardInputs }, options?: EvaluateOptions): PolicyEvaluation;

  /**
   * Judges the sample, asks `lossOf` for a loss, and adds its gradients to the parameters' `.grad`. Frees everything
   * else it made; numbers to report are taken inside `lossOf`.
   */
  learn(
    sample: { readonly forwardInputs: ForwardInputs },
    options: LearnOptions,
    lossOf: (evaluation: PolicyEvaluation) => Tensor,
  ): void;

  /** Demonstrations (`actions_BCD` float32, in the env's units) as forward inputs to learn from. */
  label(observation: Observation, actions_BCD: Tensor): ForwardInputs;
  /** The loss of labeled demonstrations: a scalar with gradients. */
  supervisedLoss(sample: { readonly forwardInputs: ForwardInputs }, options?: SupervisedOptions): Tensor;

  /** The weights' memory has moved: whatever remembers addresses (captured graphs) must forget them. */
  weightsMoved?(): void;
  /** Writes a folder that this family, and the reference implementation, can load. */
  save(folder: string, options?: SaveOptions): Promise<void>;
  dispose(): void;
}

export interface LoadOptions {
  readonly device?: Device;
  /** Overrides the settings' precision. */
  readonly dtype?: DType;
  /** The environment's wishes; without them actions stay in the dataset's own convention. */
  readonly actionSpec?: ActionSpec;
  /** On a GPU, act by replaying captured graphs: much less latency at small batches. */
  readonly cudaGraphs?: boolean;
  /** Seeds weights that the checkpoint does not have (value head, fresh LoRA). */
  readonly seed?: number;
}

/** What `reverie sft --new SIZE` needs of a family that can begin from nothing. */
export interface FreshCheckpoint {
  /** The sizes of the network that may be changed, with their values. */
  readonly sizes: Readonly<Record<string, unknown>>;
  /** Writes config, tokenizer, statistics and random weights. */
  write(folder: string, options: FreshOptions): void;
}

export interface FreshOptions {
  /** Tasks in the words of the dataset; a tokenizer learns from them. */
  readonly tasks: readonly string[];
  /** The dataset's statistics, under the key by which they are chosen (`unnorm_key`). */
  readonly normStats: Readonly<Record<string, unknown>>;
  readonly unnormKey: string;
  readonly seed: number;
  readonly sizes?: Readonly<Record<string, unknown>>;
}

/** What a new policy is made for. */
export interface DemonstratedRobot {
  /** The asset pack's name, by which its statistics are found. */
  readonly pack: string;
  readonly hands: number;
  /** Pictures of the wrists were recorded too. */
  readonly wrists: boolean;
}

/** One kind of network: how its section of a config looks, how to load it, and how to tell its checkpoints. */
export interface PolicyFamily<S extends z.ZodType = z.ZodType> extends FamilySettings {
  readonly settings: S;
  load(settings: z.infer<S>, options?: LoadOptions): Promise<Policy>;
  /** Whether a checkpoint folder is of this family, by its files; asked where no config names a `model_type`. */
  recognizes?(folder: string): boolean;
  /** Keys of the model section, beside `model_type` and `model_path`, of checkpoints that `reverie sft` makes from such demonstrations. */
  sectionFor?(demonstrations: DemonstratedRobot): Readonly<Record<string, unknown>>;
  /** Untrained checkpoints that it can write, by the name of their size. */
  readonly fresh?: Readonly<Record<string, FreshCheckpoint>>;
}

/** Gives a family its types: `load` gets what `settings` parses. */
export const definePolicy = <S extends z.ZodType>(family: PolicyFamily<S>): PolicyFamily<S> => family;
