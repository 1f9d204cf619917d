/** Gradient clipping by global norm, as torch.nn.utils.clip_grad_norm_ computes it. */
import { stack } from "./create.ts";
import { noGrad } from "./gradients.ts";
import { scope } from "./living.ts";
import { fast } from "./operator.ts";
import type { Tensor } from "./tensor.ts";

export const normOfEach = fast("aten::_foreach_norm.Scalar") as (
  tensors: readonly Tensor[],
  p: number,
) => Tensor[];
const scaleEach = fast("aten::_foreach_mul_.Tensor") as (tensors: readonly Tensor[], factor: Tensor) => void;

/** The L2 norm of all gradients taken as one vector, as a tensor (no wait for the device). */
export function globalNorm(gradients: readonly Tensor[]): Tensor {
  return scope(() => {
    const norms = normOfEach(gradients, 2);
    const first = norms[0];
    if (!first) throw new Error("internal: no gradients to measure");
    return stack(norms.map((n) => n.to({ device: first.device, dtype: "float32" }))).norm();
  });
}

/** Scales the gradients in place so that their global norm is at most `maxNorm`; returns the norm before. */
export function clipGradNorm(gradients: readonly Tensor[], maxNorm: number, knownNorm?: Tensor): Tensor {
  return noGrad(() => {
    const norm = knownNorm ?? globalNorm(gradients);
    const factor = norm.add(1e-6).reciprocal().mul(maxNorm).clamp(null, 1);
    scaleEach(gradients, factor);
    factor.dispose();
    return norm;
  });
}
