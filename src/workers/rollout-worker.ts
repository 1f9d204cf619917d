/**
 * Answers observations with actions, using the actor's weights or a copy of them.
 *
 * Holds no training state. Each answer carries the version of the weights that made it, so that the algorithm can tell how stale a
 * sample is.
 */
import { type Channel, copyWeights, type WeightSync, type Weights } from "#cluster";
import type { SamplingMode } from "#config";
import type { PolicyStep } from "#data";
import type { Policy } from "#policies";
import { UserError } from "#registry";
import { Generator, keep, scope } from "#tensor";
import type { Answer, Question } from "./policy-line.ts";
import { Shelter } from "./shelter.ts";

const noNumbers = "the policy's probabilities are not numbers";

/** Whether the policy answered with what are no numbers; also known from another thread's words. */
export const isDivergence = (error: Error): boolean => error.message.startsWith(noNumbers);

/** A rollout worker as the rest of a run sees it, wherever it lives. */
export interface Decider {
  /** Brings its weights up to date. */
  refreshWeights(sync: WeightSync): Promise<void>;
  /** Serves one queue of questions until it is closed. */
  serve(
    key: string,
    questions: Channel<Question>,
    answers: Channel<Answer>,
    sampling: SamplingMode,
  ): Promise<void>;
  /** Seconds spent in the policy since last asked. */
  takeSeconds(): number;
  close(): Promise<void>;
}

export class RolloutWorker implements Decider {
  readonly policy: Policy;
  /** Where its weights go between phases, where they do: never those that an actor learns with. */
  readonly #shelter: Shelter | undefined;
  #version = 0;
  #busy = 0;

  constructor(policy: Policy, shelter?: Shelter) {
    this.policy = policy;
    this.#shelter = shelter;
  }

  get version(): number {
    return this.#version;
  }

  async refreshWeights(sync: WeightSync): Promise<void> {
    this.#version = await sync.pull(this.policy.module.namedParameters());
  }

  async serve(
    key: string,
    questions: Channel<Question>,
    answers: Channel<Answer>,
    sampling: SamplingMode,
  ): Promise<void> {
    this.wake();
    try {
      for (;;) {
        const question = await questions.receive(key);
        if (!question) return;
        await answers.send(question.from, this.answer(question, sampling));
      }
    } finally {
      this.rest();
    }
  }

  wake(): void {
    this.#shelter?.wake();
  }

  rest(): void {
    this.#shelter?.rest();
  }

  answer({ observation, wants, seeds }: Question, sampling: SamplingMode): Answer {
    const began = performance.now();
    const generators = sampling.mode === "sample" ? seeds?.map((seed) => new Generator(seed)) : undefined;
    const mode = generators ? "sample" : "greedy";
    const step = scope(() => this.policy.act(observation, { ...sampling, mode, generator: generators }));
    for (const generator of generators ?? []) generator.dispose();
    this.#requireNumbers(step);
    this.#busy += (performance.now() - began) / 1000;
    if (wants === "decision") return { step: keepStep(step), version: this.#version };
    for (const tensor of [step.actions, step.logProbs, ...Object.values(step.forwardInputs)])
      tensor.dispose();
    if (!step.values) throw new Error("internal: values were asked of a policy without a critic");
    return { values: keep(step.values), version: this.#version };
  }

  #requireNumbers({ logProbs }: PolicyStep): void {
    if (scope(() => logProbs.isfinite().all().item())) return;
    throw new UserError(
      `${noNumbers} (weights after ${this.#version} training steps of this run): ` +
        (this.#version > 0
          ? "training has diverged; lower actor.optim.lr"
          : "nothing was learned yet, so it is the model itself, or what it is shown"),
    );
  }

  takeSeconds(): number {
    const seconds = this.#busy;
    this.#busy = 0;
    return seconds;
  }

  async close(): Promise<void> {}

  /** For a worker that gets its weights from elsewhere. */
  takeWeights(version: number, weights: Weights): void {
    copyWeights(weights, this.policy.module.namedParameters());
    this.#version = version;
  }
}

/** For a rollout worker's own copy of the weights, away until somebody acts; several workers with one copy share it. */
export function copyShelter(policy: Policy): Shelter {
  const shelter = new Shelter(
    () => policy.module.parameters(),
    policy.device,
    () => policy.weightsMoved?.(),
  );
  shelter.rest();
  return shelter;
}

/** Answers outlive every scope: whoever receives them frees them. */
function keepStep(step: PolicyStep): PolicyStep {
  for (const tensor of [step.actions, step.logProbs, ...Object.values(step.forwardInputs)]) keep(tensor);
  if (step.values) keep(step.values);
  return step;
}
