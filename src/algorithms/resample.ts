/**
 * Replaces groups that teach nothing by freshly collected ones that do.
 *
 * Dynamic sampling as in DAPO (https://arxiv.org/abs/2503.14476): a group whose members all did equally well
 * has no gradient, yet takes room in the batch. With `resample_dead_groups: n` the run collects up to n more
 * rollouts and fills the gaps; what stays dead stays.
 */
import { concatColumns, mapRollout, type Rollout } from "#data";
import { noGrad, scope, tensor } from "#tensor";
import { episodeMask } from "./episode-mask.ts";
import { deadGroups, episodeReturns } from "./groups.ts";

export interface Refill {
  readonly rollout: Rollout;
  readonly filled: number; // groups replaced
  readonly dead: number; // groups that are still without any spread
}

/**
 * Both rollouts have the same shape but for their columns. The result is new; the given ones stay as they
 * are.
 */
export function refillDeadGroups(rollout: Rollout, fresh: Rollout, groupSize: number): Refill {
  return noGrad(() =>
    scope(() => {
      const gaps = deadGroupsOf(rollout, groupSize);
      const unfit = new Set(deadGroupsOf(fresh, groupSize));
      const [, columns = 0] = rollout.rewards.shape;
      const [, freshColumns = 0] = fresh.rewards.shape;
      const live = Array.from({ length: freshColumns / groupSize }, (_, group) => group).filter(
        (group) => !unfit.has(group),
      );
      const filled = Math.min(gaps.length, live.length);
      const source = Array.from({ length: columns }, (_, column) => column);
      for (let i = 0; i < filled; i++) {
        for (let member = 0; member < groupSize; member++) {
          source[(gaps[i] ?? 0) * groupSize + member] = columns + (live[i] ?? 0) * groupSize + member;
        }
      }
      const rows = tensor(source, { dtype: "int64" });
      const both = concatColumns([rollout, fresh]);
      return {
        rollout: mapRollout(both, (field) => field.indexSelect(1, rows)),
        filled,
        dead: gaps.length - filled,
      };
    }),
  );
}

export function deadGroupsOf(rollout: Rollout, groupSize: number): number[] {
  return scope(() => deadGroups(episodeReturns(rollout.rewards, episodeMask(rollout.dones).mask), groupSize));
}
