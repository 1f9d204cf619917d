/** Norms of many tensors at once, as torch.nn.utils.clip_grad_norm_ measures gradients. */
import { stack } from "./create.ts";
import { scope } from "./living.ts";
import { fast } from "./operator.ts";
import type { Tensor } from "./tensor.ts";

export const normOfEach = fast("aten::_foreach_norm.Scalar") as (
  tensors: readonly Tensor[],
  p: number,
) => Tensor[];

/** The L2 norm of all tensors taken as one vector, as a tensor (no wait for the device). */
export function globalNorm(tensors: readonly Tensor[]): Tensor {
  return scope(() => {
    const norms = normOfEach(tensors, 2);
    const first = norms[0];
    if (!first) throw new Error("internal: no tensors to measure");
    return stack(norms.map((n) => n.to({ device: first.device, dtype: "float32" }))).norm();
  });
}
