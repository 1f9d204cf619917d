/**
 * From a policy's [−1, 1] to the env's own units and back, by the statistics of the training data.
 *
 * Double precision on the host, as the reference does it in NumPy. Dimensions whose mask is false (the
 * gripper) pass through unchanged.
 */
import { UserError } from "#registry";
import type { NormStats, Statistics } from "./config.ts";

/** Which bounds are −1 and 1: the 1st and 99th percentile, or the extremes (ALOHA's datasets). */
export type ActionBounds = "q99" | "min_max";

/** The dataset's entry: under the key itself, or under the key with "_no_noops", as the reference falls back. */
export function datasetKey(stats: NormStats, unnormKey: string | undefined): string {
  const keys = Object.keys(stats);
  const list =
    keys.length === 0 ? "the checkpoint has no statistics at all" : `there are: ${keys.join(", ")}`;
  if (unnormKey === undefined) {
    if (keys.length === 1) return keys[0]!;
    throw new UserError(`unnorm_key is not set and the checkpoint does not decide it; ${list}`);
  }
  for (const key of [unnormKey, `${unnormKey}_no_noops`]) if (Object.hasOwn(stats, key)) return key;
  throw new UserError(`no statistics for unnorm_key "${unnormKey}"; ${list}`);
}

export interface Bounds {
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly mask: readonly boolean[];
}

export function boundsOf(statistics: Statistics, kind: ActionBounds, name: string): Bounds {
  const low = kind === "q99" ? statistics.q01 : statistics.min;
  const high = kind === "q99" ? statistics.q99 : statistics.max;
  if (!low || !high) throw new UserError(`the statistics "${name}" have no min and max, which ${kind} needs`);
  const mask = statistics.mask ?? low.map(() => true);
  if (low.length !== high.length || mask.length !== low.length) {
    throw new UserError(
      `the statistics "${name}" disagree about their size: ${low.length} low, ${high.length} high, ${mask.length} mask`,
    );
  }
  refuseStandstill({ low, high, mask }, name);
  return { low, high, mask };
}

/** A number may stand still (demonstrations that never turn the hand): the policy then cannot move it. All may not. */
function refuseStandstill({ low, high, mask }: Bounds, name: string): void {
  const crossed = low.findIndex((value, d) => mask[d] && value > high[d]!);
  if (crossed >= 0)
    throw new UserError(
      `the statistics "${name}" have their lower bound above the upper one in number ${crossed}: ${low[crossed]} and ${high[crossed]}`,
    );
  const still = low.every((value, d) => mask[d] && value === high[d]);
  if (still && low.length > 0)
    throw new UserError(
      `the statistics "${name}" have equal bounds in every number: nothing could ever move`,
    );
}

/** [−1, 1] to the env's units, in place of the reference's numpy expression. `values` is [..., dimensions]. */
export function denormalize(values: Float64Array, { low, high, mask }: Bounds): Float64Array {
  const size = low.length;
  return values.map((value, i) => {
    const d = i % size;
    return mask[d] ? 0.5 * (value + 1) * (high[d]! - low[d]! + 1e-8) + low[d]! : value;
  });
}

/** The env's units to [−1, 1], clipped; the inverse of `denormalize`, used to make training labels. */
export function normalize(values: ArrayLike<number>, { low, high, mask }: Bounds): Float64Array {
  const size = low.length;
  return Float64Array.from({ length: values.length }, (_, i) => {
    const d = i % size;
    const value = values[i]!;
    const scaled = mask[d] ? (2 * (value - low[d]!)) / (high[d]! - low[d]! + 1e-8) - 1 : value;
    return Math.min(Math.max(scaled, -1), 1);
  });
}
