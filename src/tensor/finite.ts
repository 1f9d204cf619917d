/** Whether weights are numbers: one norm per tensor on its own device, and one answer to wait for. */

import { stack } from "./create.ts";
import { noGrad } from "./gradients.ts";
import { scope } from "./living.ts";
import { normOfEach } from "./norm.ts";
import type { Tensor } from "./tensor.ts";

const isFloating = ({ dtype }: Tensor): boolean => /^b?float/.test(dtype);

/** The first tensor that holds NaN or infinity, and which; undefined when all are numbers. Integers always are. */
export function findNotFinite(
  tensors: ReadonlyMap<string, Tensor>,
): { readonly name: string; readonly what: "NaN" | "infinity" } | undefined {
  const floating = [...tensors].filter(([, value]) => isFloating(value) && value.numel > 0);
  return noGrad(() =>
    scope(() => {
      // A norm may overflow where all numbers are finite: then each tensor is looked at.
      if (byDevice(floating.map(([, value]) => value)).every(haveFiniteNorms)) return undefined;
      const found = floating.find(([, value]) => scope(() => !value.isfinite().all().item()));
      if (!found) return undefined;
      const [name, value] = found;
      return { name, what: value.isnan().any().item() ? "NaN" : "infinity" } as const;
    }),
  );
}

function haveFiniteNorms(tensors: readonly Tensor[]): boolean {
  const norms = normOfEach(tensors, 2).map((norm) => norm.to({ dtype: "float32" }));
  return Boolean(stack(norms).isfinite().all().item());
}

function byDevice(tensors: readonly Tensor[]): (readonly Tensor[])[] {
  const devices = [...new Set(tensors.map(({ device }) => device))];
  return devices.map((device) => tensors.filter((each) => each.device === device));
}
