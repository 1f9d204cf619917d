/**
 * The critic's loss: Huber error to the return, with the value held near its old self.
 *
 * The larger of two errors counts: that of the value, and that of the value moved at most `value_clip` from
 * what it was when the action was chosen (OpenAI baselines' PPO). Shapes: all [M, V].
 */
import type { Tensor } from "#tensor";

export interface ValueLoss {
  readonly loss: Tensor; // [M, V]
  readonly outside: Tensor; // bool [M, V]: the value had moved further than value_clip
}

export function valueLoss(
  values: Tensor,
  oldValues: Tensor,
  returns: Tensor,
  clip: number,
  delta: number,
): ValueLoss {
  const moved = values.sub(oldValues);
  const near = oldValues.add(moved.clamp(-clip, clip));
  return {
    loss: huber(returns.sub(values), delta).maximum(huber(returns.sub(near), delta)),
    outside: moved.detach().abs().gt(clip),
  };
}

/** ½e² below δ, δ(|e| − ½δ) beyond. */
function huber(error: Tensor, delta: number): Tensor {
  const size = error.abs();
  const small = size.clamp(null, delta); // e within δ, δ beyond
  return small.square().mul(0.5).add(size.sub(small).mul(delta));
}
