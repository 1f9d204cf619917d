/**
 * Continuous actions as tokens, the way RT-2 and OpenVLA write them (https://arxiv.org/abs/2406.09246, §3.2).
 *
 * The last `bins` ids of the vocabulary are actions. A value in [−1, 1] falls between two of `bins` evenly
 * spaced edges and is answered with the middle of that interval; the value falls as the id rises. There is
 * one interval fewer than there are ids, so the two lowest ids mean the same value.
 */
import { UserError } from "#registry";

export interface ActionTokens {
  /** The first id that is an action. */
  readonly firstId: number;
  readonly bins: number;
  /** Ids to values in [−1, 1]. */
  decode(ids: ArrayLike<number | bigint>): Float64Array;
  /** Values (clipped to [−1, 1]) to ids. */
  encode(values: ArrayLike<number>): BigInt64Array;
}

export function actionTokens(vocabulary: number, bins: number): ActionTokens {
  const edges = Float64Array.from({ length: bins }, (_, i) => edge(i, bins));
  const centers = Float64Array.from({ length: bins - 1 }, (_, i) => (edges[i]! + edges[i + 1]!) / 2);
  const firstId = vocabulary - bins;

  const centreOf = (id: number): number => {
    if (id < firstId || id >= vocabulary) {
      throw new UserError(`token ${id} is not an action: actions are ${firstId} to ${vocabulary - 1}`);
    }
    return centers[Math.min(Math.max(vocabulary - id - 1, 0), bins - 2)]!;
  };
  return {
    firstId,
    bins,
    decode: (ids) => Float64Array.from({ length: ids.length }, (_, i) => centreOf(Number(ids[i]))),
    encode: (values) =>
      BigInt64Array.from({ length: values.length }, (_, i) =>
        BigInt(vocabulary - digitize(values[i]!, edges)),
      ),
  };
}

/** numpy's linspace(−1, 1, bins): the last edge is exact. */
const edge = (i: number, bins: number): number => (i === bins - 1 ? 1 : -1 + i * (2 / (bins - 1)));

/** How many edges are at or below the value: numpy's digitize. At least 1, since the first edge is −1. */
function digitize(value: number, edges: Float64Array): number {
  const clipped = Math.min(Math.max(value, -1), 1);
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= clipped) low = middle + 1;
    else high = middle;
  }
  return low;
}
