/**
 * One network's way through its training: optimiser, schedule, averaged weights, and what a resumed run needs.
 *
 * The averaged weights (EMA) are what gets saved as the world: they imagine better than the last step's.
 */
import { z } from "zod";
import type { Module } from "#nn";
import {
  AdamW,
  aten,
  clipGradNorm,
  constantSchedule,
  cosineSchedule,
  keep,
  noGrad,
  scope,
  type Tensor,
  tensor,
} from "#tensor";

export const weightTrainingSettings = z.strictObject({
  steps: z.int().positive(),
  batch_size: z.int().positive(),
  lr: z.number().positive(),
  lr_scheduler: z.enum(["constant", "cosine"]).default("cosine"),
  lr_warmup_steps: z.int().min(0).default(200),
  adam_beta2: z.number().default(0.99),
  weight_decay: z.number().min(0).default(0),
  clip_grad: z.number().positive().default(1),
  ema_decay: z.number().min(0).max(0.99999).default(0.999).describe("0 keeps the last weights"),
  seed: z.int().min(0).default(0),
});
export type WeightTrainingSettings = z.infer<typeof weightTrainingSettings>;

export interface TrainingStep {
  readonly loss: Tensor;
  readonly gradNorm: Tensor;
}

export class WeightTraining {
  readonly settings: WeightTrainingSettings;
  readonly #weights: ReadonlyMap<string, Tensor>;
  readonly #averages: ReadonlyMap<string, Tensor>;
  readonly #optimizer: AdamW;
  readonly #schedule: (step: number) => number;
  #step = 0;

  constructor(module: Module, settings: WeightTrainingSettings) {
    const { steps, lr, lr_scheduler, lr_warmup_steps: warmup, adam_beta2, weight_decay } = settings;
    this.settings = settings;
    this.#weights = new Map([...module.namedParameters()].filter(([, weight]) => weight.requiresGrad));
    this.#averages = new Map(
      [...this.#weights].map(([name, weight]) => [name, keep(weight.detach().clone())]),
    );
    this.#optimizer = new AdamW([{ parameters: this.#weights, lr }], {
      betas: [0.9, adam_beta2],
      weightDecay: weight_decay,
    });
    this.#schedule =
      lr_scheduler === "cosine" ? cosineSchedule(steps, warmup, 0.05) : constantSchedule(warmup);
  }

  get step(): number {
    return this.#step;
  }

  /** One optimiser step on the loss that `lossOf` computes. Reading the numbers waits for the device. */
  take(lossOf: () => Tensor): TrainingStep {
    return scope(() => {
      this.#optimizer.groups[0]!.lr = this.settings.lr * this.#schedule(this.#step);
      const loss = scope(() => {
        const value = lossOf();
        value.backward();
        return value.detach();
      });
      const gradients = [...this.#weights.values()].flatMap(({ grad }) => grad ?? []);
      const gradNorm = clipGradNorm(gradients, this.settings.clip_grad);
      this.#optimizer.step();
      this.#optimizer.zeroGrad();
      this.#step++;
      this.#average();
      return { loss, gradNorm };
    });
  }

  /** Young averages forget fast, so that the random start does not linger. */
  #average(): void {
    const decay = Math.min(this.settings.ema_decay, (1 + this.#step) / (10 + this.#step));
    noGrad(() => aten._foreach_lerp_([...this.#averages.values()], [...this.#weights.values()], 1 - decay));
  }

  /** Runs `body` with the averaged weights in place. */
  async withAverages<T>(body: () => Promise<T>): Promise<T> {
    this.#swap();
    try {
      return await body();
    } finally {
      this.#swap();
    }
  }

  #swap(): void {
    noGrad(() =>
      scope(() => {
        for (const [name, weight] of this.#weights) {
          const average = this.#averages.get(name)!;
          const now = weight.clone();
          weight.copy_(average);
          average.copy_(now);
        }
      }),
    );
  }

  /** Weights, averages, moments and step by name: a resumed run goes on from them bit for bit. */
  state(): Map<string, Tensor> {
    const named = (prefix: string, values: ReadonlyMap<string, Tensor>): [string, Tensor][] =>
      [...values].map(([name, value]) => [`${prefix}.${name}`, value]);
    return new Map([
      ...named("weights", this.#weights),
      ...named("averages", this.#averages),
      ...named("optimizer", this.#optimizer.state()),
      ["step", tensor([BigInt(this.#step)])],
    ]);
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    noGrad(() => {
      for (const [name, weight] of this.#weights) weight.copy_(state.get(`weights.${name}`)!);
      for (const [name, average] of this.#averages) average.copy_(state.get(`averages.${name}`)!);
    });
    const own = [...state].filter(([name]) => name.startsWith("optimizer."));
    this.#optimizer.loadState(new Map(own.map(([name, value]) => [name.slice("optimizer.".length), value])));
    this.#step = Number(state.get("step")!.item());
  }

  dispose(): void {
    this.#optimizer.dispose();
    for (const average of this.#averages.values()) average.dispose();
  }
}
