/**
 * Supervised fine-tuning: a policy learns to answer as the expert did.
 *
 * AdamW on the policy's own loss over random frames. A share of every batch are first frames of episodes, because a
 * policy that starts wrong never reaches the rest. The same seed, data and machine give the same weights, to the bit,
 * whether or not the run was interrupted and resumed.
 */

import { z } from "zod";
import { optimizerKeys } from "#config";
import type { ForwardInputs } from "#data";
import {
  asPart,
  gradientsOf,
  learningRateFactor,
  partOfState,
  type RateFactor,
  WholeUpdate,
} from "#optimization";
import type { Policy } from "#policies";
import { cat, Generator, keep, randint, scope, type Tensor, tensor } from "#tensor";
import type { LabeledFrames } from "./labels.ts";

export const sftSettings = z.strictObject({
  steps: z.int().positive().default(900),
  batch_size: z.int().positive().default(512),
  micro_batch_size: z
    .int()
    .positive()
    .nullish()
    .describe("frames per backward pass; the whole batch by default"),
  lr: optimizerKeys.lr.default(1e-3),
  lr_scheduler: z.enum(["constant", "cosine"]).default("constant"),
  lr_warmup_steps: optimizerKeys.lr_warmup_steps.default(200),
  adam_beta1: optimizerKeys.adam_beta1.default(0.9),
  adam_beta2: optimizerKeys.adam_beta2.default(0.98),
  weight_decay: optimizerKeys.weight_decay.default(0),
  clip_grad: optimizerKeys.clip_grad.default(1),
  first_frame_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.3)
    .describe("share of a batch that begins an episode"),
  seed: z.int().min(0).default(0),
});
export type SftSettings = z.infer<typeof sftSettings>;

export interface SftProgress {
  readonly step: number; // steps done
  readonly loss: number;
  readonly lr: number;
  readonly gradNorm: number;
}

export interface SftHooks {
  /** Reported every so many steps: reading a number waits for the device. */
  readonly reportEvery?: number;
  readonly onProgress?: (progress: SftProgress) => void;
  /** After every step: to write a checkpoint or evaluate. Training waits for it. */
  readonly afterStep?: (step: number, run: SftRun) => Promise<void>;
}

/** A running fine-tuning: what a checkpoint must hold to go on from it. */
export class SftRun {
  readonly policy: Policy;
  readonly #frames: LabeledFrames;
  readonly #settings: SftSettings;
  readonly #update: WholeUpdate;
  readonly #weights: ReadonlyMap<string, Tensor>;
  readonly #schedule: RateFactor;
  readonly #random: Generator;
  readonly #firstRows: Tensor;
  #step = 0;

  constructor(policy: Policy, frames: LabeledFrames, settings: SftSettings) {
    this.policy = policy;
    this.#frames = frames;
    this.#settings = settings;
    this.#weights = new Map([...policy.module.namedParameters()].filter(([, weight]) => weight.requiresGrad));
    this.#update = new WholeUpdate([{ weights: this.#weights, lr: settings.lr }], {
      masters: false, // weights train in --precision, which is float32 unless asked otherwise
      betas: [settings.adam_beta1, settings.adam_beta2],
      weightDecay: settings.weight_decay,
    });
    this.#schedule = learningRateFactor(settings, settings.steps);
    this.#random = new Generator(settings.seed);
    this.#firstRows = keep(tensor(BigInt64Array.from(frames.firstRows, BigInt)));
  }

  get step(): number {
    return this.#step;
  }

  async train({ reportEvery = 10, onProgress, afterStep }: SftHooks = {}): Promise<void> {
    while (this.#step < this.#settings.steps) {
      const group = this.#update.groups[0]!;
      group.lr = this.#settings.lr * this.#schedule(this.#step);
      const { loss, gradNorm } = this.#takeStep();
      this.#step++;
      if (this.#step % reportEvery === 0 || this.#step === this.#settings.steps) {
        onProgress?.({ step: this.#step, loss: loss.item(), lr: group.lr, gradNorm: gradNorm.item() });
      }
      loss.dispose();
      gradNorm.dispose();
      await afterStep?.(this.#step, this);
      await new Promise(setImmediate); // signals and timers live on
    }
  }

  #takeStep(): { loss: Tensor; gradNorm: Tensor } {
    return scope(() => {
      const { batch_size: batch, micro_batch_size, clip_grad } = this.#settings;
      const rows = this.#drawRows();
      const micro = Math.min(micro_batch_size ?? batch, batch);
      const losses: Tensor[] = [];
      for (let start = 0; start < batch; start += micro) {
        const length = Math.min(micro, batch - start);
        losses.push(this.#accumulate(rows.narrow(0, start, length), length / batch));
      }
      const gradNorm = this.#update.applyUnseen(gradientsOf(this.#weights), clip_grad);
      for (const weight of this.#weights.values()) weight.grad = null;
      return { loss: losses.reduce((sum, loss) => sum.add(loss)), gradNorm };
    });
  }

  /** Adds a part's gradients, weighted by its share of the batch. */
  #accumulate(rows: Tensor, share: number): Tensor {
    return scope(() => {
      const sample = { forwardInputs: this.#select(rows) };
      const loss = this.policy.supervisedLoss(sample, { generator: this.#random }).mul(share);
      loss.backward();
      return loss.detach();
    });
  }

  #select(rows: Tensor): ForwardInputs {
    const { forwardInputs } = this.#frames;
    return Object.fromEntries(
      Object.entries(forwardInputs).map(([name, value]) => [name, value.indexSelect(0, rows)]),
    );
  }

  #drawRows(): Tensor {
    const { batch_size: batch, first_frame_share } = this.#settings;
    const generator = this.#random;
    const firsts = Math.round(batch * first_frame_share);
    const parts: Tensor[] = [];
    if (firsts > 0) {
      const episodes = randint(0, this.#frames.firstRows.length, [firsts], { generator });
      parts.push(this.#firstRows.indexSelect(0, episodes));
    }
    if (firsts < batch) parts.push(randint(0, this.#frames.frames, [batch - firsts], { generator }));
    return cat(parts, 0);
  }

  /** Optimizer, random stream and step, by name. The weights are the policy's to save. */
  state(): Map<string, Tensor> {
    return new Map([
      ...asPart("optimizer", this.#update.moments()),
      ["random", this.#random.getState()],
      ["step", tensor([BigInt(this.#step)])],
    ]);
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    this.#update.loadMoments(partOfState("optimizer", state));
    this.#random.setState(state.get("random")!.clone());
    this.#step = state.get("step")!.item();
  }

  dispose(): void {
    this.#update.dispose();
    this.#firstRows.dispose();
  }
}
