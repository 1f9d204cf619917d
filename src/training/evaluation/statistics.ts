/**
 * What a number of successes says: intervals and tests that hold for small numbers too.
 *
 * Wilson's score interval (https://doi.org/10.1080/01621459.1927.10502953) stays inside [0, 1] and is right near its ends, where
 * success ± 1.96 σ is not. McNemar's test in its exact form asks whether two policies that played the same starts differ: only the
 * starts on which they disagree count, and those are coin flips if the policies are equally good. How much they differ is known to
 * Newcombe's interval for paired shares (method 10, https://doi.org/10.1002/(SICI)1097-0258(19981130)17:22%3C2635::AID-SIM954%3E3.0.CO;2-C),
 * which joins Wilson's intervals and takes into account that a start which is easy for one is easy for the other.
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
  const center = (p + z2 / (2 * episodes)) / (1 + z2 / episodes);
  const half =
    (z95 / (1 + z2 / episodes)) * Math.sqrt((p * (1 - p)) / episodes + z2 / (4 * episodes * episodes));
  return {
    success: p,
    low: successes === 0 ? 0 : Math.max(0, center - half),
    high: successes === episodes ? 1 : Math.min(1, center + half),
    episodes,
  };
}

export const rateOf = (episodes: readonly { readonly success: boolean }[]): Rate =>
  successRate(episodes.filter(({ success }) => success).length, episodes.length);

/** Two-sided p-value when, of the pairs that disagree, `onlyFirst` went one way and `onlySecond` the other. */
export function exactMcNemar(onlyFirst: number, onlySecond: number): number {
  const n = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  let tail = 0;
  for (let k = 0; k <= fewer; k++) tail += Math.exp(logChoose(n, k) - n * Math.LN2);
  return Math.min(1, 2 * tail);
}

/** How many starts both solved, only the second, only the first, and neither. */
export interface PairCounts {
  readonly both: number;
  readonly gained: number;
  readonly lost: number;
  readonly neither: number;
}

/** The second's share less the first's, with its 95 % interval. */
export function pairedDifference(counts: PairCounts): { change: number; low: number; high: number } {
  const { both, gained, lost, neither } = counts;
  const n = both + gained + lost + neither;
  const [one, two] = [successRate(both + lost, n), successRate(both + gained, n)];
  const phi = pairCorrelation(counts);
  const joined = (a: number, b: number): number => Math.sqrt(Math.max(0, a * a - 2 * phi * a * b + b * b));
  const change = two.success - one.success;
  return {
    change,
    low: change - joined(two.success - two.low, one.high - one.success),
    high: change + joined(one.success - one.low, two.high - two.success),
  };
}

/** Where it is positive it is brought towards 0 by half a start, as Newcombe does. */
function pairCorrelation({ both, gained, lost, neither }: PairCounts): number {
  const product = (both + gained) * (lost + neither) * (both + lost) * (gained + neither);
  if (product === 0) return 0;
  const raw = both * neither - gained * lost;
  const n = both + gained + lost + neither;
  return (raw > 0 ? Math.max(0, raw - n / 2) : raw) / Math.sqrt(product);
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log(n - k + i) - Math.log(i);
  return sum;
}
