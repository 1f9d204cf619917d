/**
 * Decisions for some slots only, as if all had been asked: rows of slots whose episode is over are zeros.
 *
 * Without auto-reset a finished column is masked from then on; nobody reads those rows, so nobody needs to compute them. What a policy
 * was shown there repeats another slot's: a minibatch without any live row still passes one through the network (`liveRows`), and zeros
 * are no tokens.
 */
import { batchSize, disposeObservation, type Observation, type PolicyStep, selectObservation } from "#data";
import { scope, type Tensor, tensor, zeros } from "#tensor";
import type { PolicyLine } from "./policy-line.ts";

/** Asks for the slots that still play; the others' rows stay empty. */
export async function decideFor(
  playing: readonly number[],
  seen: Observation,
  line: PolicyLine,
  seed: (slot: number) => bigint,
): Promise<{ step: PolicyStep; version: number }> {
  const size = batchSize(seen);
  const asked = playing.length > 0 ? playing : [0]; // somebody must say what a decision looks like
  if (asked.length === size) return line.decide(seen, asked.map(seed));
  const some = scope(() => selectObservation(seen, tensor([...asked], { dtype: "int64" })));
  const { step, version } = await line.decide(some, asked.map(seed));
  disposeObservation(some);
  const whole = spreadRows(step, asked, size);
  disposeStep(step);
  return { step: whole, version };
}

function spreadRows(step: PolicyStep, rows: readonly number[], size: number): PolicyStep {
  return scope(() => {
    const index = tensor([...rows], { dtype: "int64" });
    const spread = (part: Tensor): Tensor =>
      zeros([size, ...part.shape.slice(1)], { dtype: part.dtype, device: part.device }).indexCopy_(
        0,
        index,
        part,
      );
    const repeated = (part: Tensor): Tensor =>
      part
        .narrow(0, 0, 1)
        .expand([size, ...part.shape.slice(1)])
        .clone()
        .indexCopy_(0, index, part);
    const inputs = Object.entries(step.forwardInputs).map(([name, part]) => [name, repeated(part)]);
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
