/**
 * One network's way through its training: optimizer, schedule, averaged weights, and what a resumed run needs.
 *
 * A step takes a lesson, tensors of fixed shapes that were drawn before, and does nothing random itself: on a GPU the
 * whole of it (forward, backward, clipping, AdamW) is captured once as a CUDA graph and replayed, because small networks
 * spend more time on launching kernels than on running them. With bf16 weights the optimizer keeps float32 masters.
 * The averaged weights (EMA) are what gets saved as the world: they imagine better than the last step's.
 */
import { z } from "zod";
import { optimizerKeys } from "#config";
import type { Module } from "#nn";
import { asPart, learningRateFactor, partOfState, type RateFactor, WholeUpdate, warmUp } from "#optimization";
import { aten, emptyCache, full, Graph, grad, keep, noGrad, scope, type Tensor, tensor } from "#tensor";

export const weightTrainingSettings = z.strictObject({
  steps: z.int().positive(),
  batch_size: z.int().positive(),
  lr: optimizerKeys.lr,
  lr_scheduler: z.enum(["constant", "cosine"]).default("cosine"),
  lr_warmup_steps: optimizerKeys.lr_warmup_steps.default(200),
  adam_beta2: optimizerKeys.adam_beta2.default(0.99),
  weight_decay: optimizerKeys.weight_decay.default(0),
  clip_grad: optimizerKeys.clip_grad.default(1),
  ema_decay: z.number().min(0).max(0.99999).default(0.999).describe("0 keeps the last weights"),
  cuda_graph: z.boolean().default(true).describe("replay a captured step on a GPU"),
  seed: z.int().min(0).default(0),
});
export type WeightTrainingSettings = z.infer<typeof weightTrainingSettings>;

/** What one step learns from: tensors by name. Every lesson of a training has the same shapes. */
export type Lesson<L> = { readonly [K in keyof L]: Tensor };

export interface TrainingStep {
  readonly loss: Tensor;
  readonly gradNorm: Tensor;
}

interface CapturedStep<L> {
  readonly graph: Graph;
  readonly lesson: L;
  readonly result: TrainingStep;
}

export class WeightTraining<L extends Lesson<L>> {
  readonly settings: WeightTrainingSettings;
  readonly #lossOf: (lesson: L) => Tensor;
  readonly #weights: ReadonlyMap<string, Tensor>; // what the network computes with
  readonly #buffers: ReadonlyMap<string, Tensor>;
  readonly #averages: ReadonlyMap<string, Tensor>;
  readonly #update: WholeUpdate;
  readonly #schedule: RateFactor;
  readonly #rate: Tensor | undefined;
  readonly #captures: boolean;
  #captured: CapturedStep<L> | undefined;
  #step = 0;

  constructor(module: Module, settings: WeightTrainingSettings, lossOf: (lesson: L) => Tensor) {
    const { steps, lr, lr_scheduler, adam_beta2, weight_decay } = settings;
    this.settings = settings;
    this.#lossOf = lossOf;
    const all = [...module.namedParameters()];
    this.#weights = new Map(all.filter(([, weight]) => weight.requiresGrad));
    this.#buffers = new Map(all.filter(([, weight]) => !weight.requiresGrad));
    const device = all[0]![1].device;
    this.#captures = device !== "cpu" && settings.cuda_graph;
    this.#rate = this.#captures ? keep(full([], lr, { device })) : undefined;
    this.#update = new WholeUpdate([{ weights: this.#weights, lr }], {
      masters: true,
      betas: [0.9, adam_beta2],
      weightDecay: weight_decay,
      ...(this.#rate && { rate: this.#rate }),
    });
    this.#averages = new Map(
      [...this.#masters].map(([name, weight]) => [name, keep(weight.detach().clone())]),
    );
    // Its warm-up is apart: the cosine begins at the first step, and a run in a hurry is ahead on the cosine only.
    const whole = { lr, lr_scheduler, lr_warmup_steps: 0, min_lr_rate: 0.05 };
    this.#schedule = learningRateFactor(whole, steps);
  }

  /** float32; the same tensors where the network is float32 itself. */
  get #masters(): ReadonlyMap<string, Tensor> {
    return this.#update.masters.targets;
  }

  get step(): number {
    return this.#step;
  }

  /**
   * One optimizer step. Reading the numbers of its result waits for the device. `hurry`: the share of the allowed time
   * that has gone by; the schedule follows it where it is ahead of the steps.
   */
  take(lesson: L, hurry = 0): TrainingStep {
    const { steps, lr_warmup_steps: warmup, lr: full } = this.settings;
    const place = Math.max(this.#step, Math.min(hurry, 1) * steps);
    const lr = full * this.#schedule(place) * warmUp(this.#step, warmup);
    this.#update.groups[0]!.lr = lr;
    if (this.#rate) noGrad(() => this.#rate!.fill_(lr));
    const step = this.#captures ? this.#replay(lesson) : this.#compute(lesson);
    this.#step++;
    this.#average();
    return step;
  }

  #compute(lesson: L): TrainingStep {
    return scope(() => {
      const loss = this.#lossOf(lesson);
      const found = grad([loss], [...this.#weights.values()]) as Tensor[];
      const gradients = new Map([...this.#weights.keys()].map((name, i) => [name, found[i]!]));
      const gradNorm = this.#update.applyUnseen(gradients, this.settings.clip_grad);
      return { loss: loss.detach(), gradNorm };
    });
  }

  #replay(lesson: L): TrainingStep {
    this.#captured ??= this.#capture(lesson);
    const { graph, lesson: fixed, result } = this.#captured;
    noGrad(() => {
      for (const name of Object.keys(lesson) as (keyof L)[]) fixed[name].copy_(lesson[name]);
    });
    graph.replay();
    return { loss: result.loss.clone(), gradNorm: result.gradNorm.clone() };
  }

  /** Warming up takes real steps, so everything is put back as it was. */
  #capture(lesson: L): CapturedStep<L> {
    const entries = Object.entries<Tensor>(lesson);
    const fixed = Object.fromEntries(entries.map(([name, value]) => [name, keep(value.clone())])) as L;
    // Copies that record no gradients: a recorded one would tie the weights' gradients to this stream during the capture.
    const before = noGrad(
      () => new Map([...this.state()].map(([name, value]) => [name, keep(value.clone())])),
    );
    const { graph, result } = Graph.capture(() => this.#compute(fixed));
    for (const value of Object.values(result)) keep(value);
    this.loadState(before);
    for (const value of before.values()) value.dispose();
    return { graph, lesson: fixed, result };
  }

  /** Young averages forget fast, so that the random start does not linger. */
  #average(): void {
    const decay = Math.min(this.settings.ema_decay, (1 + this.#step) / (10 + this.#step));
    noGrad(() => aten._foreach_lerp_([...this.#averages.values()], [...this.#masters.values()], 1 - decay));
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
        for (const [name, master] of this.#masters) {
          const average = this.#averages.get(name)!;
          const now = master.clone();
          master.copy_(average);
          average.copy_(now);
        }
        this.#update.masters.round();
      }),
    );
  }

  /** Weights, averages, moments and step by name: a resumed run goes on from them bit for bit. */
  state(): Map<string, Tensor> {
    return new Map([
      ...asPart("weights", this.#masters),
      ...asPart("buffers", this.#buffers),
      ...asPart("averages", this.#averages),
      ...asPart("optimizer", this.#update.moments()),
      ["step", tensor([BigInt(this.#step)])],
    ]);
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    noGrad(() => {
      for (const [name, master] of this.#masters) master.copy_(state.get(`weights.${name}`)!);
      for (const [name, buffer] of this.#buffers) buffer.copy_(state.get(`buffers.${name}`)!);
      for (const [name, average] of this.#averages) average.copy_(state.get(`averages.${name}`)!);
    });
    this.#update.masters.round();
    this.#update.loadMoments(partOfState("optimizer", state));
    this.#step = Number(state.get("step")!.item());
  }

  dispose(): void {
    this.#update.dispose();
    this.#captured?.graph.dispose();
    for (const average of this.#averages.values()) average.dispose();
    for (const value of Object.values<Tensor>(this.#captured?.lesson ?? {})) value.dispose();
    this.#rate?.dispose();
    if (this.#captures) emptyCache(); // a captured step holds gigabytes that others on this accelerator may need
  }
}
