/**
 * What several actor ranks share after the backward passes of a minibatch: the sum of their gradients, and a few plain numbers.
 *
 * Every rank divides its losses by totals of the whole minibatch (algorithms/aggregate.ts), so gradients are summed, never averaged.
 * All gradients of one type travel as one flat buffer.
 */
import type { Ranks } from "#algorithms";
import { cat, noGrad, type ProcessGroup, scope, type Tensor, tensor } from "#tensor";

/** Replaces each gradient by the sum over all ranks, in place. */
export async function sumGradients(gradients: readonly Tensor[], group: ProcessGroup): Promise<void> {
  for (const same of groupByType(gradients).values()) {
    const flat = noGrad(() => scope(() => cat(same.map((gradient) => gradient.reshape([-1])))));
    await group.allReduce(flat);
    noGrad(() =>
      scope(() => {
        const parts = flat.split(
          same.map(({ numel }) => numel),
          0,
        );
        for (const [i, gradient] of same.entries()) gradient.copy_((parts[i] as Tensor).view(gradient.shape));
      }),
    );
    flat.dispose();
  }
}

function groupByType(gradients: readonly Tensor[]): Map<string, Tensor[]> {
  const groups = new Map<string, Tensor[]>();
  for (const gradient of gradients)
    groups.set(gradient.dtype, [...(groups.get(gradient.dtype) ?? []), gradient]);
  return groups;
}

/** Plain numbers over all ranks, for algorithms. */
export function ranksOf(group: ProcessGroup): Ranks {
  const reduce = async (values: readonly number[], how: "sum" | "max"): Promise<readonly number[]> => {
    const numbers = tensor([...values], { dtype: "float64" });
    await group.allReduce(numbers, how);
    const result = numbers.toArray().map(Number);
    numbers.dispose();
    return result;
  };
  return { sum: (values) => reduce(values, "sum"), max: (values) => reduce(values, "max") };
}
