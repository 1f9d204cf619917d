/**
 * How the actor's newest weights reach the workers that act with them, each set under a version.
 *
 * Whatever the way, afterwards the receiver's weights equal the actor's to the bit (after a cast, where it acts in another type).
 */
import { noGrad, type Tensor } from "#tensor";

export type Weights = ReadonlyMap<string, Tensor>;

export interface WeightSync {
  /** The actor's side: these weights are version n. Only what is trained needs to be named. */
  publish(version: number, weights: Weights): Promise<void>;
  /** The receiver's side: brings `weights` up to date; gives the version they now have. */
  pull(weights: Weights): Promise<number>;
  /** What was published last, for receivers in other threads: to be read, never written. */
  latest(): { readonly version: number; readonly weights: Weights };
}

/** Copies by name; a weight that is the very same tensor costs nothing. */
export function copyWeights(from: Weights, to: Weights): void {
  noGrad(() => {
    for (const [name, source] of from) {
      const target = to.get(name);
      if (!target) throw new Error(`internal: the receiver has no weight called ${name}`);
      if (target !== source) target.copy_(source);
    }
  });
}

/** Actor and receiver in one process. A receiver that holds the very tensors of the actor costs nothing. */
export class LocalWeightSync implements WeightSync {
  #version = -1;
  #weights: Weights = new Map();

  async publish(version: number, weights: Weights): Promise<void> {
    this.#version = version;
    this.#weights = weights;
  }

  async pull(weights: Weights): Promise<number> {
    const { version, weights: published } = this.latest();
    copyWeights(published, weights);
    return version;
  }

  latest(): { readonly version: number; readonly weights: Weights } {
    if (this.#version < 0) throw new Error("internal: weights were asked for before any were published");
    return { version: this.#version, weights: this.#weights };
  }
}
