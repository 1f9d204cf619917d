/**
 * What a number of successes says: intervals and tests that hold for small numbers too.
 *
 * Wilson's score interval (https://doi.org/10.1080/01621459.1927.10502953) stays inside [0, 1] and is right near its ends, where
 * success ± 1.96 σ is not. McNemar's test in its exact form asks whether two policies that played the same starts differ: only the
 * starts on which they disagree count, and those are coin flips if the policies are equally good.
 */
export interface Rate {
  readonly success: number;
  readonly low: number;
  readonly high: number;
  readonly episodes: number;
}

const z95 = 1.959963984540054;

/** Successes out of episodes, with Wilson's 95 % interval. */
export function successRate(successes: number, episodes: number): Rate {
  if (episodes === 0) return { success: Number.NaN, low: 0, high: 1, episodes };
  const p = successes / episodes;
  const z2 = z95 * z95;
  const centre = (p + z2 / (2 * episodes)) / (1 + z2 / episodes);
  const half =
    (z95 / (1 + z2 / episodes)) * Math.sqrt((p * (1 - p)) / episodes + z2 / (4 * episodes * episodes));
  return {
    success: p,
    low: successes === 0 ? 0 : Math.max(0, centre - half),
    high: successes === episodes ? 1 : Math.min(1, centre + half),
    episodes,
  };
}

/** Two-sided p-value when, of the pairs that disagree, `onlyFirst` went one way and `onlySecond` the other. */
export function exactMcNemar(onlyFirst: number, onlySecond: number): number {
  const n = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  let tail = 0;
  for (let k = 0; k <= fewer; k++) tail += Math.exp(logChoose(n, k) - n * Math.LN2);
  return Math.min(1, 2 * tail);
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log(n - k + i) - Math.log(i);
  return sum;
}
