/**
 * Every random stream of a run, named and derived from its one seed.
 *
 * A stream's seed is a function of its name and of a few numbers (training step, slot, decision), never of how many workers there
 * are or in which order they ask. So samples do not depend on worker counts or pipeline depth, and a resumed run needs no saved
 * generator for them: it derives the same seeds again.
 */
const mask = 0xffffffffffffffffn;

export class RandomStream {
  readonly #state: bigint;

  private constructor(state: bigint) {
    this.#state = state;
  }

  static ofRun(seed: number): RandomStream {
    return new RandomStream(mix(0n, BigInt(seed)));
  }

  /** A stream of its own below this one. */
  branch(name: string, ...numbers: readonly number[]): RandomStream {
    return new RandomStream(
      numbers.reduce((state, number) => mix(state, BigInt(number)), mix(this.#state, textHash(name))),
    );
  }

  /** 64 well-mixed bits for the given place in the stream. */
  seed(...numbers: readonly number[]): bigint {
    return numbers.reduce((state, number) => mix(state, BigInt(number)), this.#state);
  }

  /** For those who take a plain number: 32 of the bits. */
  smallSeed(...numbers: readonly number[]): number {
    return Number(this.seed(...numbers) & 0xffffffffn);
  }
}

/** SplitMix64's finalizer (Steele et al. 2014) over the state and one more word. */
function mix(state: bigint, word: bigint): bigint {
  let z = (state + 0x9e3779b97f4a7c15n + word) & mask;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
  return z ^ (z >> 31n);
}

/** FNV-1a, 64 bits. */
function textHash(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & mask;
  return hash;
}
