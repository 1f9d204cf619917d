/**
 * How clipped gradients become new weights: AdamW on the weights themselves, or on 32-bit copies of 16-bit ones.
 *
 * A step of 2e-5 on a bfloat16 weight is below its rounding and would be lost, again and again; the reference loses it. With
 * `actor.optim.master_weights` (the default) the optimiser works on float32 masters and the network gets their rounded values.
 */
import {
  AdamW,
  type AdamWOptions,
  clipGradNorm,
  globalNorm,
  keep,
  noGrad,
  scope,
  type Tensor,
} from "#tensor";

export interface WeightGroup {
  readonly weights: ReadonlyMap<string, Tensor>;
  lr: number;
}

export interface GradientStep {
  readonly norm: number;
  readonly taken: boolean;
}

export interface WeightUpdate {
  readonly groups: readonly WeightGroup[];
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

export const masterKey = (name: string): string => `master.${name}`;

export class WholeUpdate implements WeightUpdate {
  readonly groups: readonly WeightGroup[];
  readonly #adam: AdamW;
  /** float32 copies of weights that are not. */
  readonly #masters = new Map<string, Tensor>();

  constructor(groups: readonly WeightGroup[], options: AdamWOptions & { readonly masters: boolean }) {
    this.groups = groups;
    const target = (name: string, weight: Tensor): Tensor => {
      if (!options.masters || weight.dtype === "float32") return weight;
      const master = noGrad(() => keep(weight.detach().float()));
      this.#masters.set(name, master);
      return master;
    };
    this.#adam = new AdamW(
      groups.map(({ weights, lr }) => ({
        parameters: new Map([...weights].map(([name, weight]) => [name, target(name, weight)])),
        lr,
      })),
      options,
    );
  }

  async apply(gradients: ReadonlyMap<string, Tensor>, maxNorm: number): Promise<GradientStep> {
    const norm = scope(() => this.#clip([...gradients.values()], maxNorm));
    if (!Number.isFinite(norm)) return { norm, taken: false };
    for (const [i, group] of this.groups.entries()) this.#adam.groups[i]!.lr = group.lr;
    if (this.#masters.size === 0) {
      this.#adam.step(gradients);
    } else {
      const factor = Math.min(1, maxNorm / (norm + 1e-6));
      for (const { weights } of this.groups)
        for (const names of portions(weights)) this.#stepMasters(names, weights, gradients, factor);
    }
    return { norm, taken: true };
  }

  /** The norm; with masters the scaling waits until gradients are float32. */
  #clip(gradients: readonly Tensor[], maxNorm: number): number {
    const norm = globalNorm(gradients);
    const value = Number(norm.item());
    if (Number.isFinite(value) && this.#masters.size === 0) clipGradNorm(gradients, maxNorm, norm);
    return value;
  }

  #stepMasters(
    names: readonly string[],
    weights: ReadonlyMap<string, Tensor>,
    gradients: ReadonlyMap<string, Tensor>,
    factor: number,
  ): void {
    noGrad(() =>
      scope(() => {
        const given = names.flatMap((name) => {
          const gradient = gradients.get(name);
          return gradient ? [[name, gradient.float().mul(factor)] as const] : [];
        });
        this.#adam.step(new Map(given));
        for (const [name] of given) {
          const master = this.#masters.get(name);
          if (master) weights.get(name)?.copy_(master);
        }
      }),
    );
  }

  async lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void> {
    const masters = [...this.#masters].map(([name, master]) => [masterKey(name), master] as const);
    use(new Map([...this.#adam.state(), ...masters]));
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    this.#adam.loadState(state);
    noGrad(() => {
      for (const [name, master] of this.#masters) {
        const saved = state.get(masterKey(name));
        if (saved) master.copy_(saved);
      }
    });
  }

  tensors(): Tensor[] {
    return [...this.#adam.state().values(), ...this.#masters.values()];
  }

  rereadWeights(): void {
    noGrad(() => {
      for (const { weights } of this.groups)
        for (const [name, weight] of weights) this.#masters.get(name)?.copy_(weight);
    });
  }

  dispose(): void {
    this.#adam.dispose();
    for (const master of this.#masters.values()) master.dispose();
  }
}
