/** Which samples of a rollout a minibatch is made of. */
import type { Minibatch } from "#data";
import { type Tensor, zeros } from "#tensor";

/**
 * The rows that can move a weight. Samples after an episode's end, and those of filtered groups, are masked: they count in the
 * denominators, but their loss is zero whatever the policy says, so they need no pass through the network. One row always stays, so
 * that every rank has gradients to add.
 */
export function liveRows({ mask }: Minibatch, rows: Tensor): Tensor {
  if (!mask) return rows;
  const live = rows.maskedSelect(mask.anyAlong(1));
  return live.numel > 0 ? live : rows.narrow(0, 0, 1);
}

export function inOrder(samples: number, size: number): Tensor[] {
  return zeros([samples], { dtype: "int64" }).add(1).cumsum(0).sub(1).split(size, 0);
}
