/**
 * Seeds that are derived by a formula of their own, each under the name of its purpose.
 *
 * New code takes a `RandomStream`. These formulas are older than it, or the reference's, and a change of one would change the
 * numbers of every run that exists.
 */

/** Two small numbers, such as a run's seed and a slot or a step, spread over 32 bits (Knuth's multiplicative hash). */
export const pairSeed = (seed: number, index: number): number =>
  (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;

/** What a run's seed adds to `env.*.seed`. The default run keeps the configuration's own; other runs move all of them. */
export const envSeedOffset = (runSeed: number): number => runSeed * 10_007;

/** Of the scene that a simulator draws for a reset id, as in the reference. */
export const sceneSeed = (envSeed: number, resetId: number): number => (envSeed + resetId) % 2 ** 32;

/** Of one slot's own stream of reset ids; far from all others: spread by a large odd number. */
export const slotResetSeed = (envSeed: number, slot: number): number => (envSeed + 1) * 1_000_003 + slot;

/** Of the starts that single slots of an imagined env begin anew from, beside those of scheduled resets. */
export const singleResetSeed = (envSeed: number): number => envSeed + 0x5eed;

/** Of the control that answers by chance instead of a reward model. */
export const randomJudgeSeed = (envSeed: number): number => envSeed + 0xd1ce;

/** Of a co-evolution round's recordings, 1000 to 3999: worlds are made from smaller ones by hand. No two of 3000 steps share one. */
export const recordingSeed = (runSeed: number, step: number): number =>
  1000 + ((runSeed * 613 + step) % 3000);

/** Of a world's refresh in a co-evolution round. */
export const refreshSeed = (runSeed: number, step: number): number => runSeed + step;
