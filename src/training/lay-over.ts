/** `runner.ckpt_path`: weights of a file (`.safetensors`, or a `.pt` of the reference), laid over a policy after it is built. */
import { readSafetensors, readTorchState } from "#formats";
import { type Policy, requireFinite } from "#policies";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";

export function readWeights(path: string): Map<string, Tensor> {
  const weights = path.endsWith(".safetensors") ? readSafetensors(path) : readTorchState(path);
  requireFinite(weights, path);
  return weights;
}

/** Names may be a part of the policy's; a file that has none of them is a mistake. */
export function layOver(policy: Policy, path: string, weights = readWeights(path)): void {
  const names = policy.module.namedParameters();
  if (![...weights.keys()].some((name) => names.has(name)))
    throw new UserError(
      `runner.ckpt_path: ${path} has no weight of this policy, such as ${[...names.keys()][0]}`,
    );
  policy.module.loadState(weights, { strict: false, source: path });
}
