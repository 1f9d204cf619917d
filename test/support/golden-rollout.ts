/** For tests: the four-column rollout of the golden vectors, two decisions of two actions. */
import type { Rollout } from "#data";
import { tensor, zeros } from "#tensor";

/**
 * Column 0 succeeds in the first chunk (and fails and succeeds again, which must not count), 1 and 3 in the
 * second, 2 never.
 */
export function goldenRollout(): Rollout {
  const dones = tensor(
    [
      [0, 0, 0, 0, 0, 0, 0, 0],
      [0, 1, 0, 0, 0, 0, 0, 0],
      [1, 1, 1, 1, 0, 0, 0, 1],
    ],
    { dtype: "bool" },
  ).reshape([3, 4, 2]);
  const rewards = tensor([
    [0, 5, 0, 0, 0, 0, 0, 0],
    [-5, 5, 5, 0, 0, 0, 0, 5],
  ]).reshape([2, 4, 2]);
  return {
    logProbs: zeros([2, 4, 2, 3]),
    rewards,
    dones,
    terminated: dones,
    truncated: zeros([3, 4, 2], { dtype: "bool" }),
    versions: zeros([2, 4], { dtype: "int64" }),
    forwardInputs: { input_ids: zeros([2, 4, 5], { dtype: "int64" }) },
  };
}
