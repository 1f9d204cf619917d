/**
 * Where a world's randomness comes from.
 *
 * Each slot has a stream of its own, seeded from the run's seed, so that an episode's noise does not depend
 * on which other episodes are still in the batch: taking finished episodes out changes nothing for the rest.
 * `FixedSeedNoise` is the reference's Wan behavior (the same noise at every call, dealt by slot), and
 * recorded noise can be given for parity.
 */
import { pairSeed } from "#random";
import { Generator, randn, scope, stack, type Tensor } from "#tensor";

/** What the noise is for. A source may answer differently, and recorded noise is filed under these names. */
export type NoisePurpose = "latents" | "posterior" | "condition-posterior" | "step";

export interface NoiseSource {
  /** Standard normal float32 on the CPU, [slots.length, ...shape]; row b belongs to slot `slots[b]`. */
  draw(purpose: NoisePurpose, slots: readonly number[], shape: readonly number[]): Tensor;
}

/** One seeded stream per slot. */
export class SlotNoise implements NoiseSource {
  readonly #generators: readonly Generator[];

  constructor(size: number, seed: number) {
    this.#generators = Array.from({ length: size }, (_, slot) => new Generator(pairSeed(seed, slot)));
  }

  draw(_purpose: NoisePurpose, slots: readonly number[], shape: readonly number[]): Tensor {
    return scope(() => stack(slots.map((slot) => randn([...shape], { generator: this.#stream(slot) }))));
  }

  /** The streams' positions, so that a resumed run continues bit for bit. */
  getState(): Tensor[] {
    return this.#generators.map((generator) => generator.getState());
  }

  setState(states: readonly Tensor[]): void {
    for (const [slot, state] of states.entries()) this.#stream(slot).setState(state);
  }

  #stream(slot: number): Generator {
    const generator = this.#generators[slot];
    if (!generator) throw new Error(`internal: noise for slot ${slot} of ${this.#generators.length}`);
    return generator;
  }
}

/** The same noise at every call: what the reference does for Wan with seed 0, and why its dynamics are deterministic. */
export class FixedSeedNoise implements NoiseSource {
  readonly #size: number;
  readonly #seed: number;

  constructor(size: number, seed: number) {
    this.#size = size;
    this.#seed = seed;
  }

  draw(_purpose: NoisePurpose, slots: readonly number[], shape: readonly number[]): Tensor {
    return scope(() => {
      const all = randn([this.#size, ...shape], { generator: new Generator(this.#seed) });
      return stack(slots.map((slot) => all.select(0, slot)));
    });
  }
}
