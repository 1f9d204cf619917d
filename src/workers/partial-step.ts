/**
 * Decisions for some slots only, as if all had been asked: rows of slots whose episode is over are zeros.
 *
 * Without auto-reset a finished column is masked from then on; nobody reads those rows, so nobody needs to compute them.
 */
import type { PolicyStep } from "#data";
import { scope, type Tensor, tensor, zeros } from "#tensor";

export function spreadRows(step: PolicyStep, rows: readonly number[], size: number): PolicyStep {
  return scope(() => {
    const index = tensor([...rows], { dtype: "int64" });
    const spread = (part: Tensor): Tensor =>
      zeros([size, ...part.shape.slice(1)], { dtype: part.dtype, device: part.device }).indexCopy_(
        0,
        index,
        part,
      );
    const inputs = Object.entries(step.forwardInputs).map(([name, part]) => [name, spread(part)]);
    return {
      actions: spread(step.actions),
      logProbs: spread(step.logProbs),
      ...(step.values && { values: spread(step.values) }),
      forwardInputs: Object.fromEntries(inputs),
    };
  });
}

export function disposeStep({ actions, logProbs, values, forwardInputs }: PolicyStep): void {
  for (const part of [actions, logProbs, values, ...Object.values(forwardInputs)]) part?.dispose();
}
