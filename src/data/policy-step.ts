/**
 * What a policy answers, and what it says again when asked to judge a recorded answer.
 *
 * Shapes: B slots, C actions in a chunk, D numbers in an action, V values per decision (1 when values are
 * chunk-level, C when action-level).
 */
import type { Tensor } from "#tensor";

/**
 * All that a policy needs to compute the log-probabilities of a recorded answer once more: token ids, masks,
 * byte pictures, sampled action tokens or noise chains. Each tensor is batch-first; the names are the
 * family's own.
 */
export type ForwardInputs = Readonly<Record<string, Tensor>>;

export interface PolicyStep {
  readonly actions: Tensor; // float32 [B, C, D], in the units of the environment's ActionSpec
  readonly logProbs: Tensor; // float32 [B, C, D], of each sampled number under the sampling distribution
  readonly values?: Tensor | undefined; // float32 [B, V], only with a value head
  readonly forwardInputs: ForwardInputs;
}

/** `policy.evaluate` on recorded forward inputs: the same numbers as `act` gave, now with gradients. */
export interface PolicyEvaluation {
  readonly logProbs: Tensor; // float32 [B, C, D]
  readonly entropy?: Tensor | undefined; // float32 [B, C, D], of the temperature-scaled distribution
  readonly values?: Tensor | undefined; // float32 [B, V]
}
