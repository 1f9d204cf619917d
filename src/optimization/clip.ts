/**
 * Gradient clipping by global norm, as torch.nn.utils.clip_grad_norm_ computes it.
 *
 * On the device in float32, or with a norm that the host knows in float64: the two factors may differ in their last bits, so
 * a training keeps to one of them.
 */
import { fast, globalNorm, noGrad, type Tensor } from "#tensor";

const scaleEach = fast("aten::_foreach_mul_.Tensor") as (tensors: readonly Tensor[], factor: Tensor) => void;
const tiny = 1e-6;

/** Scales the gradients in place so that their global norm is at most `maxNorm`; returns the norm before. */
export function clipGradNorm(gradients: readonly Tensor[], maxNorm: number, knownNorm?: Tensor): Tensor {
  return noGrad(() => {
    const norm = knownNorm ?? globalNorm(gradients);
    const factor = norm.add(tiny).reciprocal().mul(maxNorm).clamp(null, 1);
    scaleEach(gradients, factor);
    factor.dispose();
    return norm;
  });
}

/** What gradients of this norm are to be multiplied by. */
export const clipFactor = (norm: number, maxNorm: number): number => Math.min(1, maxNorm / (norm + tiny));
