/**
 * A rollout worker in a thread of its own, on its own accelerator: several then decide at the same time.
 *
 * Questions are passed on as they come and tensors travel without a copy. Weights are copied by the thread straight from the actor's,
 * device to device.
 */
import { type Channel, threadLauncher, type WeightSync, type Weights } from "#cluster";
import type { RunConfig, SamplingMode } from "#config";
import type { ActionSpec } from "#data";
import { disposeObservation } from "#data";
import type { WorkerRef } from "#registry";
import { type Device, synchronize, useDevice } from "#tensor";
import { openPolicy } from "./open-actor.ts";
import type { Answer, Question } from "./policy-line.ts";
import { copyShelter, type Decider, RolloutWorker } from "./rollout-worker.ts";

export interface RolloutOptions {
  readonly config: RunConfig;
  readonly rank: number;
  readonly device: Device;
  readonly actionSpec: ActionSpec;
}

interface RolloutThread {
  answer(asked: {
    readonly question: Question;
    readonly sampling: SamplingMode;
  }): Promise<Answer & { seconds: number }>;
  takeWeights(published: { readonly version: number; readonly weights: Weights }): Promise<void>;
  wake(): Promise<void>;
  rest(): Promise<void>;
}

/** What the thread makes and answers to. */
export async function openRolloutThread(options: RolloutOptions): Promise<RolloutThread> {
  const { device } = options;
  if (device.startsWith("cuda:")) useDevice(Number(device.slice("cuda:".length)));
  const policy = await openPolicy(options, { device });
  const leaves = options.config.rollout.enable_offload && device !== "cpu";
  const worker = new RolloutWorker(policy, leaves ? copyShelter(policy) : undefined);
  return {
    async answer({ question, sampling }) {
      const answer = worker.answer(question, sampling);
      disposeObservation(question.observation);
      return { ...answer, seconds: worker.takeSeconds() };
    },
    async takeWeights({ version, weights }) {
      worker.takeWeights(version, weights);
      if (device !== "cpu") synchronize(); // the actor may write into its weights as soon as this returns
      for (const weight of weights.values()) weight.dispose();
    },
    async wake() {
      worker.wake();
    },
    async rest() {
      worker.rest();
    },
  };
}

export class RemoteRollout implements Decider {
  readonly #thread: WorkerRef<RolloutThread>;
  #busy = 0;

  private constructor(thread: WorkerRef<RolloutThread>) {
    this.#thread = thread;
  }

  static async start(options: RolloutOptions): Promise<RemoteRollout> {
    const thread = threadLauncher.start<RolloutThread>({
      name: `rollout ${options.rank}`,
      module: import.meta.url,
      factory: "openRolloutThread",
      options,
    });
    await thread.ready;
    return new RemoteRollout(thread);
  }

  async refreshWeights(sync: WeightSync): Promise<void> {
    await this.#thread.call("takeWeights", sync.latest());
  }

  async serve(
    key: string,
    questions: Channel<Question>,
    answers: Channel<Answer>,
    sampling: SamplingMode,
  ): Promise<void> {
    await this.#thread.call("wake");
    try {
      for (;;) {
        const question = await questions.receive(key);
        if (!question) return;
        const { seconds, ...answer } = await this.#thread.call("answer", { question, sampling });
        this.#busy += seconds;
        await answers.send(question.from, answer);
      }
    } finally {
      await this.#thread.call("rest");
    }
  }

  takeSeconds(): number {
    const seconds = this.#busy;
    this.#busy = 0;
    return seconds;
  }

  close(): Promise<void> {
    return this.#thread.kill();
  }
}
