/**
 * How far the policy has moved from a reference policy, estimated from log-probabilities of sampled actions.
 *
 * Schulman's k1, k2, k3 (http://joschu.net/blog/kl-approx.html). As a loss term k3 (or k2) is the sound
 * choice: it is never negative and its gradient pulls towards the reference; the gradient of k1 has mean
 * zero. k3's exponent and value are bounded, so that a single unlikely token cannot blow up a batch.
 */
import type { Tensor } from "#tensor";
import type { AlgorithmSettings } from "./settings.ts";

export function klDivergence(
  logProbs: Tensor,
  reference: Tensor,
  kind: AlgorithmSettings["kl_penalty"],
): Tensor {
  switch (kind) {
    case "kl":
    case "k1":
      return logProbs.sub(reference);
    case "abs":
      return logProbs.sub(reference).abs();
    case "mse":
    case "k2":
      return logProbs.sub(reference).square().mul(0.5);
    case "low_var_kl":
    case "k3": {
      const d = reference.sub(logProbs).clamp(-20, 20);
      return d.exp().sub(d).sub(1).clamp(-10, 10);
    }
    default:
      return kind satisfies never;
  }
}
