/**
 * Samples to learn from. One sample is one chunk decision, with what the algorithm thinks of it.
 *
 * Shapes: M samples, C actions per chunk, D numbers per action, V values per decision,
 * A advantages per decision (1 when rewards are chunk-level, C when action-level).
 */
import type { Tensor } from "#tensor";
import type { ForwardInputs } from "./policy-step.ts";

export interface Minibatch {
  readonly forwardInputs: ForwardInputs; // each [M, …]
  readonly logProbs: Tensor; // float32 [M, C, D], when the decision was made
  readonly advantages: Tensor; // float32 [M, A]
  readonly mask?: Tensor | undefined; // bool [M, A]; false where the episode was already over, or filtered out
  readonly episodeActions?: Tensor | undefined; // float32 [M, 1]; how many valid actions the sample's episode has
  readonly returns?: Tensor | undefined; // float32 [M, V], the critic's targets
  readonly values?: Tensor | undefined; // float32 [M, V], when the decision was made
  readonly referenceLogProbs?: Tensor | undefined; // float32 [M, C, D], of the reference policy (KL penalty)
  readonly versions?: Tensor | undefined; // int64 [M], the weights that made the decision
}

const optionalFields = [
  "mask",
  "episodeActions",
  "returns",
  "values",
  "referenceLogProbs",
  "versions",
] as const;

export function minibatchSize(batch: Minibatch): number {
  return batch.logProbs.shape[0] ?? 0;
}

/** The samples named by `rows` (int64 [N]), copied. */
export function selectSamples(batch: Minibatch, rows: Tensor): Minibatch {
  return mapMinibatch(batch, (tensor) => tensor.indexSelect(0, rows));
}

/** Samples `start … start + length − 1`, sharing memory with the original. */
export function sliceSamples(batch: Minibatch, start: number, length: number): Minibatch {
  return mapMinibatch(batch, (tensor) => tensor.narrow(0, start, length));
}

/** Applies a tensor operation to every field. */
export function mapMinibatch(batch: Minibatch, change: (tensor: Tensor) => Tensor): Minibatch {
  const inputs = Object.entries(batch.forwardInputs).map(([name, tensor]) => [name, change(tensor)]);
  const optional = optionalFields.flatMap((field) => {
    const tensor = batch[field];
    return tensor ? [[field, change(tensor)]] : [];
  });
  return {
    forwardInputs: Object.fromEntries(inputs),
    logProbs: change(batch.logProbs),
    advantages: change(batch.advantages),
    ...Object.fromEntries(optional),
  };
}

export function disposeMinibatch(batch: Minibatch): void {
  mapMinibatch(batch, (tensor) => {
    tensor.dispose();
    return tensor;
  });
}
