/**
 * Credits a cut-off episode with what the critic thinks would have followed.
 *
 * With auto-reset the next recorded observation belongs to a new episode, so the value of the last sight of
 * the old one must enter through its last reward. `standard` does so when time ran out and the task was not done
 * (the reference also when both happen in one chunk, although nothing would have followed); `always` also when
 * the task ended.
 */
import { cat, noGrad, scope, type Tensor } from "#tensor";

export interface Ending {
  readonly rewards: Tensor; // float32 [B, C]
  readonly terminated: Tensor; // bool [B, C]
  readonly truncated: Tensor; // bool [B, C]
}

/** `finalValues` [B, V] values the last observation before the reset; returns new rewards [B, C]. */
export function bootstrapRewards(
  { rewards, terminated, truncated }: Ending,
  finalValues: Tensor,
  gamma: number,
  type: "standard" | "always",
): Tensor {
  return noGrad(() =>
    scope(() => {
      const last = (rewards.shape[1] ?? 1) - 1;
      const [cut, solved] = [truncated.select(1, last), terminated.select(1, last)];
      const ended = type === "always" ? cut.logicalOr(solved) : cut.logicalAnd(solved.logicalNot());
      const credit = finalValues.select(1, 0).mul(ended).mul(gamma).unsqueeze(1);
      return cat([rewards.narrow(1, 0, last), rewards.narrow(1, last, 1).add(credit)], 1);
    }),
  );
}
