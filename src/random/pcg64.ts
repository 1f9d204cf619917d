/**
 * NumPy's default generator (`numpy.random.default_rng(seed)`), as far as reset ids need it, bit for bit.
 *
 * PCG64 (O'Neill 2014, https://www.pcg-random.org): a 128-bit linear congruential state with an XSL-RR output, seeded
 * through NumPy's SeedSequence. Bounded integers use Lemire's method on 32-bit halves. Runs with the same seed so start
 * from the same states as the reference's.
 */
const mask32 = 0xffffffffn;
const mask64 = (1n << 64n) - 1n;
const mask128 = (1n << 128n) - 1n;
const multiplier = 0x2360ed051fc65da44385df649fccf645n;

export class Pcg64 {
  #state = 0n;
  #increment: bigint;
  /** The unused upper half of the last 64-bit draw. */
  #half: number | undefined;

  constructor(seed: number) {
    const [a = 0n, b = 0n, c = 0n, d = 0n] = seedWords(seed);
    this.#increment = ((((c << 64n) | d) << 1n) | 1n) & mask128;
    this.#advance();
    this.#state = (this.#state + ((a << 64n) | b)) & mask128;
    this.#advance();
  }

  /** An integer in [0, bound). */
  integer(bound: number): number {
    if (!Number.isInteger(bound) || bound < 1 || bound > 0xffffffff)
      throw new Error(`internal: integer(${bound})`);
    if (bound === 1) return 0;
    const size = BigInt(bound);
    const threshold = (mask32 - (size - 1n)) % size;
    for (;;) {
      const product = BigInt(this.#uint32()) * size;
      if ((product & mask32) >= threshold) return Number(product >> 32n);
    }
  }

  shuffle(values: number[]): void {
    for (let i = values.length - 1; i > 0; i--) {
      const j = this.#upTo(i);
      [values[i], values[j]] = [values[j]!, values[i]!];
    }
  }

  /** Everything that determines the numbers to come, as text. */
  save(): string {
    return JSON.stringify([`${this.#state}`, `${this.#increment}`, this.#half ?? null]);
  }

  restore(saved: string): void {
    const [state, increment, half] = JSON.parse(saved) as [string, string, number | null];
    this.#state = BigInt(state);
    this.#increment = BigInt(increment);
    this.#half = half ?? undefined;
  }

  /** An integer in [0, largest], by masking and rejecting: shuffles draw so. */
  #upTo(largest: number): number {
    const mask = 0xffffffff >>> Math.clz32(largest);
    for (;;) {
      const value = (this.#uint32() & mask) >>> 0;
      if (value <= largest) return value;
    }
  }

  #uint32(): number {
    if (this.#half !== undefined) {
      const half = this.#half;
      this.#half = undefined;
      return half;
    }
    this.#advance();
    const mixed = (this.#state >> 64n) ^ (this.#state & mask64);
    const turn = this.#state >> 122n;
    const drawn = ((mixed >> turn) | (mixed << (64n - turn))) & mask64;
    this.#half = Number(drawn >> 32n);
    return Number(drawn & mask32);
  }

  #advance(): void {
    this.#state = (this.#state * multiplier + this.#increment) & mask128;
  }
}

/** SeedSequence: a pool of four words mixed from the seed, then four 64-bit words drawn from it. */
function seedWords(seed: number): bigint[] {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`internal: seed ${seed}`);
  const entropy = [seed >>> 0, Math.floor(seed / 2 ** 32)];
  const hash = hasher(0x43b0d7e5, 0x931e8875);
  const pool = [0, 1, 2, 3].map((i) => hash(entropy[i] ?? 0));
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to]!, hash(pool[from]!));
  const draw = hasher(0x8b51f9dd, 0x58f38ded);
  const words = Array.from({ length: 8 }, (_, i) => BigInt(draw(pool[i % 4]!)));
  return [0, 2, 4, 6].map((i) => (words[i + 1]! << 32n) | words[i]!);
}

function hasher(initial: number, factor: number): (value: number) => number {
  let constant = initial;
  return (value) => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, factor);
    const scaled = Math.imul(mixed, constant);
    return (scaled ^ (scaled >>> 16)) >>> 0;
  };
}

function mix(x: number, y: number): number {
  const mixed = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0;
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
