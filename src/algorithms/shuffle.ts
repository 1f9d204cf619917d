/**
 * Deals samples into minibatches, in a new order each update epoch of each step.
 *
 * The order follows from a seed that the caller names by run, step, epoch and rank: the same when a run is
 * resumed, never the same twice (the reference shuffles every step alike).
 */
import { Generator, randperm, type Tensor } from "#tensor";

/** int64 [samples / size][size]: the rows of each minibatch. */
export function dealMinibatches(samples: number, size: number, seed: number | bigint): Tensor[] {
  if (samples % size !== 0)
    throw new Error(`internal: ${samples} samples do not fill minibatches of ${size}`);
  const generator = new Generator(seed);
  const order = randperm(samples, { generator });
  generator.dispose();
  return order.split(size, 0);
}
