/**
 * NumPy's legacy generator (`numpy.random.seed` and friends), bit for bit.
 *
 * LIBERO places its objects with it, and where a fixture stands is not part of a stored initial state, so replaying an
 * episode needs the same bits in the same order. Mersenne Twister MT19937 (Matsumoto and Nishimura 1998); doubles take
 * 53 bits of two draws; normals come in pairs by Marsaglia's polar method, the second one kept for the next call.
 */
import { UserError } from "#registry";

const stateSize = 624;
const shiftSize = 397;

/** Everything that determines the numbers to come; structured-clonable. */
export interface Mt19937State {
  readonly key: Uint32Array;
  readonly position: number;
  readonly spareNormal: number | undefined;
}

export class Mt19937 {
  readonly #key = new Uint32Array(stateSize);
  #position = stateSize;
  #spareNormal: number | undefined;

  constructor(seed: number) {
    this.seed(seed);
  }

  seed(seed: number): void {
    if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
      throw new UserError(`a seed is an integer from 0 to 4294967295, not ${seed}`);
    let word = seed >>> 0;
    for (let i = 0; i < stateSize; i++) {
      this.#key[i] = word;
      word = (Math.imul(1812433253, word ^ (word >>> 30)) + i + 1) >>> 0;
    }
    this.#position = stateSize;
    this.#spareNormal = undefined;
  }

  save(): Mt19937State {
    return { key: this.#key.slice(), position: this.#position, spareNormal: this.#spareNormal };
  }

  restore(state: Mt19937State): void {
    this.#key.set(state.key);
    this.#position = state.position;
    this.#spareNormal = state.spareNormal;
  }

  uint32(): number {
    if (this.#position === stateSize) this.#refill();
    let y = this.#key[this.#position++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** In [0, 1), with 53 random bits. */
  double(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** `low` may exceed `high`, as in NumPy; a draw is made even when they are equal. */
  uniform(low: number, high: number): number {
    return low + (high - low) * this.double();
  }

  normal(): number {
    if (this.#spareNormal !== undefined) {
      const spare = this.#spareNormal;
      this.#spareNormal = undefined;
      return spare;
    }
    for (;;) {
      const x1 = 2 * this.double() - 1;
      const x2 = 2 * this.double() - 1;
      const r2 = x1 * x1 + x2 * x2;
      if (r2 >= 1 || r2 === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(r2)) / r2);
      this.#spareNormal = scale * x1;
      return scale * x2;
    }
  }

  /** An integer in [0, bound), by masking and rejecting; one possible value takes no bits. */
  integer(bound: number): number {
    if (!Number.isInteger(bound) || bound < 1 || bound > 0xffffffff)
      throw new Error(`internal: integer(${bound})`);
    const largest = bound - 1;
    if (largest === 0) return 0;
    const mask = 0xffffffff >>> Math.clz32(largest);
    for (;;) {
      const value = (this.uint32() & mask) >>> 0;
      if (value <= largest) return value;
    }
  }

  #refill(): void {
    const key = this.#key;
    for (let i = 0; i < stateSize; i++) {
      const y = (key[i]! & 0x80000000) | (key[(i + 1) % stateSize]! & 0x7fffffff);
      key[i] = key[(i + shiftSize) % stateSize]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.#position = 0;
  }
}
