/**
 * The clipped surrogate of the policy gradient.
 *
 * Schulman et al. 2017, https://arxiv.org/abs/1707.06347, with two separate bounds (DAPO,
 * https://arxiv.org/abs/2503.14476) and the dual clip (https://arxiv.org/abs/1912.09729): for a bad action
 * the loss never exceeds c·|A|, however much likelier it has become.
 *
 * Shapes: log-probabilities [M, P, Q]; advantages and masks [M, A, 1] with A = P or 1.
 */
import { type Tensor, where, zeros } from "#tensor";
import type { ClipSettings } from "./settings.ts";

export interface RatioClip {
  readonly loss: Tensor; // [M, P, Q]
  readonly logRatio: Tensor; // detached, 0 where masked
  readonly ratio: Tensor; // detached, 1 where masked
  readonly clipped: Tensor; // the ratio within its bounds, detached
  readonly outside: Tensor; // bool: the clip decided the loss
  readonly dual: Tensor; // bool: the dual clip decided the loss
}

export function ratioClip(
  logProbs: Tensor,
  oldLogProbs: Tensor,
  advantages: Tensor,
  mask: Tensor | undefined,
  settings: ClipSettings,
): RatioClip {
  const unmasked = boundedLogRatio(logProbs.sub(oldLogProbs), settings);
  const none = zeros([], { device: unmasked.device, dtype: unmasked.dtype });
  // Masked before the exponential: a wild masked entry must not reach the gradient as 0 · ∞.
  const logRatio = mask ? where(mask, unmasked, none) : unmasked;
  const ratio = logRatio.exp();
  const clipped = ratio.clamp(1 - settings.clip_ratio_low, 1 + settings.clip_ratio_high);
  const free = advantages.mul(ratio).neg();
  const bound = advantages.mul(clipped).neg();
  const single = free.maximum(bound);
  const c = settings.clip_ratio_c;
  const ceiling = typeof c === "number" ? advantages.abs().mul(c).expand(single.shape) : undefined;
  return {
    loss: ceiling ? single.minimum(ceiling) : single,
    logRatio: logRatio.detach(),
    ratio: ratio.detach(),
    clipped: clipped.detach(),
    outside: free.lt(bound),
    dual: ceiling ? single.gt(ceiling) : zeros(single.shape, { dtype: "bool", device: single.device }),
  };
}

function boundedLogRatio(
  logRatio: Tensor,
  { clip_log_ratio_min: low, clip_log_ratio_max: high }: ClipSettings,
): Tensor {
  return typeof low === "number" || typeof high === "number"
    ? logRatio.clamp(low ?? null, high ?? null)
    : logRatio;
}
