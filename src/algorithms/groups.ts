/** What is decided per group: neighboring columns that started from the same state. */
import { noGrad, scope, type Tensor } from "#tensor";

/**
 * Sum of rewards of each column's episode: [B] from rewards [T, B, C] and an optional mask of the same shape.
 */
export function episodeReturns(rewards: Tensor, mask?: Tensor): Tensor {
  return noGrad(() => scope(() => (mask ? rewards.mul(mask) : rewards).sum([0, 2])));
}

/** Which columns belong to a group whose mean return lies within the bounds, both included: bool [B]. */
export function keptColumns(returns: Tensor, groupSize: number, lower: number, upper: number): Tensor {
  return noGrad(() =>
    scope(() => {
      const groups = grouped(returns, groupSize);
      const mean = groups.mean(1, true);
      return mean.ge(lower).logicalAnd(mean.le(upper)).expand(groups.shape).reshape(returns.shape);
    }),
  );
}

/**
 * Groups whose members all did equally well: they teach nothing, and may be collected again (DAPO, arXiv
 * 2503.14476).
 */
export function deadGroups(returns: Tensor, groupSize: number): number[] {
  const spreads = noGrad(() => scope(() => spreadOf(grouped(returns, groupSize)).toArray()));
  return spreads.flatMap((width, group) => (Number(width) === 0 ? [group] : []));
}

/** Which columns belong to a group with a spread: bool [B]. */
export function liveColumns(returns: Tensor, groupSize: number): Tensor {
  return noGrad(() =>
    scope(() => {
      const groups = grouped(returns, groupSize);
      return spreadOf(groups).gt(0).unsqueeze(1).expand(groups.shape).reshape(returns.shape);
    }),
  );
}

/** Best minus worst: [groups, members] → [groups]. */
const spreadOf = (groups: Tensor): Tensor => groups.amax(1).sub(groups.amin(1));

/** [B] → [groups, members]. */
export function grouped(returns: Tensor, groupSize: number): Tensor {
  const [columns = 0] = returns.shape;
  if (columns % groupSize !== 0)
    throw new Error(`internal: ${columns} columns are not whole groups of ${groupSize}`);
  return returns.reshape([columns / groupSize, groupSize]);
}
