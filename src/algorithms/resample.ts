/**
 * Dynamic sampling: collects again until every group of the batch has something to teach.
 *
 * As in DAPO (https://arxiv.org/abs/2503.14476): a group whose members all did equally well has no gradient, yet takes room in the
 * batch. With `resample_dead_groups: n` a step plays up to n more rollouts, from new starts, and fills the gaps with their groups that
 * have a spread; it plays none while there is no gap. What is still dead then stays, or leaves the loss (`filter_dead_groups`).
 */
import { concatColumns, disposeRollout, mapRollout, type Rollout } from "#data";
import { noGrad, scope, tensor } from "#tensor";
import { episodeMask } from "./episode-mask.ts";
import { deadGroups, episodeReturns } from "./groups.ts";

/** `collect` plays the episodes of a round: 0, and up to `rounds` more. */
export async function collectLiveGroups(
  { groupSize, rounds }: { readonly groupSize: number; readonly rounds: number },
  collect: (round: number) => Promise<Rollout>,
): Promise<{ readonly rollout: Rollout; readonly collections: number }> {
  let rollout = await collect(0);
  let round = 0;
  while (round < rounds && deadGroupsOf(rollout, groupSize).length > 0) {
    const fresh = await collect(++round);
    const filled = refillDeadGroups(rollout, fresh, groupSize);
    for (const used of [rollout, fresh]) disposeRollout(used);
    rollout = filled;
  }
  return { rollout, collections: round + 1 };
}

/** Both rollouts have the same shape but for their columns. The result is new; the given ones stay as they are. */
export function refillDeadGroups(rollout: Rollout, fresh: Rollout, groupSize: number): Rollout {
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
      return mapRollout(both, (field) => field.indexSelect(1, rows));
    }),
  );
}

export function deadGroupsOf(rollout: Rollout, groupSize: number): number[] {
  return scope(() => deadGroups(episodeReturns(rollout.rewards, episodeMask(rollout.dones).mask), groupSize));
}
