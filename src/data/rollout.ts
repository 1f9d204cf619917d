/**
 * Everything one training step recorded, as rectangular tensors: T chunk decisions of B columns.
 *
 * A column is one environment slot in one rollout epoch; epochs stand side by side (column = epoch · slots +
 * slot), so the members of a group stay next to each other from the environment to the loss. Shapes: C
 * actions per chunk, D numbers per action, V values per decision.
 */
import { cat, type Tensor } from "#tensor";
import type { ForwardInputs } from "./policy-step.ts";

export interface Rollout {
  readonly logProbs: Tensor; // float32 [T, B, C, D]
  readonly rewards: Tensor; // float32 [T, B, C]; row t is earned by decision t
  readonly dones: Tensor; // bool [T+1, B, C]; row t+1 belongs to decision t, row 0 is false
  readonly terminated: Tensor; // bool [T+1, B, C]
  readonly truncated: Tensor; // bool [T+1, B, C]
  readonly values?: Tensor | undefined; // float32 [T+1, B, V]; the last row values what follows the last decision
  readonly versions: Tensor; // int64 [T, B]; the weights that made each decision
  readonly forwardInputs: ForwardInputs; // each [T, B, …]
}

/** Applies a tensor operation to every field. */
export function mapRollout(rollout: Rollout, change: (tensor: Tensor) => Tensor): Rollout {
  const inputs = Object.entries(rollout.forwardInputs).map(([name, tensor]) => [name, change(tensor)]);
  return {
    logProbs: change(rollout.logProbs),
    rewards: change(rollout.rewards),
    dones: change(rollout.dones),
    terminated: change(rollout.terminated),
    truncated: change(rollout.truncated),
    ...(rollout.values && { values: change(rollout.values) }),
    versions: change(rollout.versions),
    forwardInputs: Object.fromEntries(inputs),
  };
}

/** Columns `start … start + length − 1`, sharing memory with the original. */
export function sliceColumns(rollout: Rollout, start: number, length: number): Rollout {
  return mapRollout(rollout, (tensor) => tensor.narrow(1, start, length));
}

/** Puts rollouts side by side: rollout epochs, or the shards of several env workers, in order. */
export function concatColumns(parts: readonly Rollout[]): Rollout {
  const [first] = parts;
  if (!first) throw new Error("internal: no rollouts to join");
  const join = (field: (part: Rollout) => Tensor): Tensor => cat(parts.map(field), 1);
  const names = Object.keys(first.forwardInputs);
  return {
    logProbs: join((part) => part.logProbs),
    rewards: join((part) => part.rewards),
    dones: join((part) => part.dones),
    terminated: join((part) => part.terminated),
    truncated: join((part) => part.truncated),
    ...(first.values && { values: join((part) => need(part.values, "values")) }),
    versions: join((part) => part.versions),
    forwardInputs: Object.fromEntries(
      names.map((name) => [name, join((part) => need(part.forwardInputs[name], name))]),
    ),
  };
}

export function disposeRollout(rollout: Rollout): void {
  mapRollout(rollout, (tensor) => {
    tensor.dispose();
    return tensor;
  });
}

function need(tensor: Tensor | undefined, name: string): Tensor {
  if (!tensor) throw new Error(`internal: only some rollouts have ${name}`);
  return tensor;
}
