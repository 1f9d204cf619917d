/** The recorded loss differentiated: gradients of named parameters, their total norm, and who must have none. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ForwardInputs } from "#data";
import { scope, type Tensor } from "#tensor";
import type { Comparison } from "./comparison.ts";
import type { PrismaticCase, PrismaticPolicy } from "./prismatic-case.ts";

export function compareGradients(
  it: PrismaticCase,
  policy: PrismaticPolicy,
  inputs: ForwardInputs,
  comparison: Comparison,
): void {
  if (!it.outputs.has("loss")) return;
  const weights = policy.module.namedParameters();
  scope(() => {
    const loss = recordedLoss(it, policy, inputs);
    comparison.absolute("loss", loss, it.outputs.get("loss")!, "loss");
    loss.backward();
  });
  const named = [...it.outputs].filter(([name]) => name.startsWith("grad."));
  for (const [name, theirs] of named) compareOne(name, theirs, weights, policy, comparison);
  const norm = it.outputs.get("grad_norm_total");
  if (norm) comparison.relative("norm of all gradients", totalNorm(weights), norm, "gradients");
  compareZeros(it, weights, comparison);
}

/** PPO's clipped objective with fixed advantages, a value term and an entropy bonus, as inputs.json spells it. */
function recordedLoss(it: PrismaticCase, policy: PrismaticPolicy, inputs: ForwardInputs): Tensor {
  const { temperature, topK } = it;
  const { device } = policy;
  const withEntropy = it.outputs.has("entropy");
  const now = policy.evaluate(
    { forwardInputs: inputs },
    { temperature, topK, entropy: withEntropy ? "learned" : undefined },
  );
  const advantages = it.inputs.get("advantages")!.to({ device });
  const ratio = now.logProbs.flatten(1).sub(it.inputs.get("old_logprobs")!.to({ device })).exp();
  const gain = ratio.mul(advantages).minimum(ratio.clamp(0.8, 1.28).mul(advantages));
  const policyLoss = gain.mean().neg();
  const withValues = now.values ? policyLoss.add(now.values.square().mean().mul(0.5)) : policyLoss;
  return now.entropy ? withValues.sub(now.entropy.mean().mul(0.01)) : withValues;
}

function compareOne(
  name: string,
  theirs: Tensor,
  weights: ReadonlyMap<string, Tensor>,
  policy: PrismaticPolicy,
  comparison: Comparison,
): void {
  const ourName = name.replace("grad.", "").replace("base_model.model.", "");
  const gradient = weights.get(ourName)?.grad;
  if (!gradient) {
    comparison.failed(`${ourName} has no gradient, and the reference has one`);
    return;
  }
  const { firstId, bins } = policy.codec.tokens;
  const whole = gradient.size(0) === theirs.size(0);
  comparison.gradient(name, whole ? gradient : gradient.narrow(0, firstId, bins), theirs);
}

function totalNorm(weights: ReadonlyMap<string, Tensor>): Tensor {
  return scope(() => {
    const squares = [...weights.values()].flatMap(({ grad }) => (grad ? [grad.float().square().sum()] : []));
    return squares
      .reduce((sum, square) => sum.add(square))
      .sqrt()
      .reshape([1]);
  });
}

function compareZeros(it: PrismaticCase, weights: ReadonlyMap<string, Tensor>, comparison: Comparison): void {
  const path = join(it.folder, "zero_grad_params.json");
  if (!existsSync(path)) return;
  const listed = JSON.parse(readFileSync(path, "utf8")) as { params_without_gradient: string[] };
  const isZero = (name: string): boolean => {
    const gradient = weights.get(name)?.grad;
    return !gradient || scope(() => gradient.abs().sum().item() === 0);
  };
  const wrong = listed.params_without_gradient.filter((name) => !weights.has(name) || !isZero(name));
  comparison.none("parameters with a gradient that must have none", wrong.length);
}
