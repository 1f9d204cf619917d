/**
 * How gradients become new weights: clipped, then AdamW on the weights themselves or on float32 masters of 16-bit ones.
 *
 * RL, supervised fine-tuning and world training update with this class. They differ in one thing, on purpose: RL reads the norm
 * on the host (`apply`) to leave out a step whose gradient is not finite; the others leave everything on the device
 * (`applyUnseen`), which can be captured as a CUDA graph and never waits.
 */
import { globalNorm, noGrad, scope, type Tensor } from "#tensor";
import { AdamW, type AdamWOptions } from "./adamw.ts";
import { clipFactor, clipGradNorm } from "./clip.ts";
import { Float32Masters, inFloat32 } from "./float32-masters.ts";

export interface WeightGroup {
  readonly weights: ReadonlyMap<string, Tensor>;
  /** The rate to begin with. */
  readonly lr: number;
}

export interface GradientStep {
  readonly norm: number;
  readonly taken: boolean;
}

/** What several ranks can do together too. */
export interface WeightUpdate {
  /** The groups' rates, to be set before a step. */
  readonly groups: readonly { lr: number }[];
  /**
   * Clips and applies; gradients by name. A norm that is not finite takes no step: one bad batch must not ruin the weights. Groups
   * that are `resting` are left alone, whatever gradients there are.
   */
  apply(
    gradients: ReadonlyMap<string, Tensor>,
    maxNorm: number,
    resting?: ReadonlySet<number>,
  ): Promise<GradientStep>;
  /**
   * Shows moments, step counts and masters by name, the same whatever the number of ranks; they are lent for the call only.
   * All ranks must ask together.
   */
  lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void>;
  loadState(state: ReadonlyMap<string, Tensor>): void;
  /** The network's weights were changed from outside: masters follow. */
  rereadWeights(): void;
  /** All that it holds beside the network's weights: what may leave an accelerator between updates. */
  tensors(): Tensor[];
  dispose(): void;
}

/** Of the weights that a loss reached, by name. */
export function gradientsOf(weights: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  const found = new Map<string, Tensor>();
  for (const [name, { grad }] of weights) if (grad) found.set(name, grad);
  return found;
}

/** Names in portions of at most so many numbers, so that temporary copies stay small. */
export function portions(weights: ReadonlyMap<string, Tensor>, limit = 2 ** 26): string[][] {
  const lists: string[][] = [];
  let room = 0;
  for (const [name, { numel }] of weights) {
    if (lists.length === 0 || numel > room) {
      lists.push([]);
      room = limit;
    }
    lists.at(-1)?.push(name);
    room -= numel;
  }
  return lists;
}

export class WholeUpdate implements WeightUpdate {
  readonly masters: Float32Masters;
  readonly #weights: readonly WeightGroup[];
  readonly #adam: AdamW;

  constructor(groups: readonly WeightGroup[], options: AdamWOptions & { readonly masters: boolean }) {
    const { masters, ...adam } = options;
    this.#weights = groups;
    this.masters = new Float32Masters(new Map(groups.flatMap(({ weights }) => [...weights])), masters);
    const targetsOf = ({ weights }: WeightGroup) =>
      new Map([...weights.keys()].map((name) => [name, this.masters.targets.get(name)!]));
    this.#adam = new AdamW(
      groups.map((group) => ({ parameters: targetsOf(group), lr: group.lr })),
      adam,
    );
  }

  get groups(): readonly { lr: number }[] {
    return this.#adam.groups;
  }

  get #hasMasters(): boolean {
    return this.masters.copies.size > 0;
  }

  async apply(gradients: ReadonlyMap<string, Tensor>, maxNorm: number): Promise<GradientStep> {
    const norm = scope(() => this.#clip([...gradients.values()], maxNorm));
    if (!Number.isFinite(norm)) return { norm, taken: false };
    if (this.#hasMasters) this.#stepMasters(gradients, clipFactor(norm, maxNorm));
    else this.#adam.step(gradients);
    return { norm, taken: true };
  }

  /** The norm; with masters the scaling waits until gradients are float32. */
  #clip(gradients: readonly Tensor[], maxNorm: number): number {
    const norm = globalNorm(gradients);
    const value = Number(norm.item());
    if (Number.isFinite(value) && !this.#hasMasters) clipGradNorm(gradients, maxNorm, norm);
    return value;
  }

  /** Portion by portion: float32 gradients of a large network would not fit beside it. */
  #stepMasters(gradients: ReadonlyMap<string, Tensor>, factor: number): void {
    for (const names of this.#weights.flatMap(({ weights }) => portions(weights))) {
      const given = names.filter((name) => gradients.has(name));
      noGrad(() =>
        scope(() => {
          this.#adam.step(new Map(given.map((name) => [name, gradients.get(name)!.float().mul(factor)])));
          this.masters.round(given);
        }),
      );
    }
  }

  /**
   * The same without a word to the host; gives the norm before clipping, measured in float32. Scales float32 gradients in place.
   * A norm that is not finite ruins the weights: the caller looks at them before it writes any.
   */
  applyUnseen(gradients: ReadonlyMap<string, Tensor>, maxNorm: number): Tensor {
    const given = this.#hasMasters ? inFloat32(gradients) : gradients;
    const norm = clipGradNorm([...given.values()], maxNorm);
    this.#adam.step(given);
    this.masters.round();
    return norm;
  }

  /** Without the masters: for those who save these as their weights. */
  moments(): Map<string, Tensor> {
    return this.#adam.state();
  }

  loadMoments(state: ReadonlyMap<string, Tensor>): void {
    this.#adam.loadState(state);
  }

  async lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void> {
    use(new Map([...this.#adam.state(), ...this.masters.state()]));
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    this.#adam.loadState(state);
    this.masters.loadState(state);
  }

  tensors(): Tensor[] {
    return [...this.#adam.state().values(), ...this.masters.copies.values()];
  }

  rereadWeights(): void {
    this.masters.reread();
  }

  dispose(): void {
    this.#adam.dispose();
    this.masters.dispose();
  }
}
