/**
 * Deals samples into minibatches, in a new order each update epoch of each step.
 *
 * The order is drawn from a stream named by the run's seed, the step, the epoch and the rank: the same when a
 * run is resumed, never the same twice (the reference shuffles every step alike).
 */
import { Generator, randperm, type Tensor } from "#tensor";

export interface Deal {
  readonly seed: number | bigint;
  readonly step: number;
  readonly epoch: number;
  readonly rank: number;
}

/** int64 [samples / size][size]: the rows of each minibatch. */
export function dealMinibatches(samples: number, size: number, deal: Deal): Tensor[] {
  if (samples % size !== 0)
    throw new Error(`internal: ${samples} samples do not fill minibatches of ${size}`);
  const generator = new Generator(mix([deal.seed, deal.step, deal.epoch, deal.rank]));
  const order = randperm(samples, { generator });
  generator.dispose();
  return order.split(size, 0);
}

/** Several numbers into one well-mixed 64-bit seed (SplitMix64's finaliser after each). */
function mix(words: readonly (number | bigint)[]): bigint {
  return words.reduce<bigint>((state, word) => {
    let z = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n + BigInt(word));
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }, 0n);
}
