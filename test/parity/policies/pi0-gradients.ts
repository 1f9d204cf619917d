/** The recorded losses differentiated: PPO's on a recorded chain, and flow matching on recorded demonstrations. */
import type { ForwardInputs } from "#data";
import { scope, type Tensor } from "#tensor";
import type { Pi0Policy } from "../../../src/policies/pi0/pi0-policy.ts";
import type { Comparison } from "./comparison.ts";
import type { Pi0Case } from "./pi0-case.ts";

export function comparePi0Gradients(
  it: Pi0Case,
  policy: Pi0Policy,
  inputs: ForwardInputs,
  comparison: Comparison,
): void {
  const recorded = it.outputs.get("loss");
  if (recorded) {
    scope(() => {
      const loss = recordedLoss(it, policy, inputs);
      comparison.absolute("loss", loss, recorded, "loss");
      loss.backward();
    });
  }
  compareNamed("grad.", it, policy, comparison);
  const norm = it.outputs.get("grad_norm_total");
  if (norm) comparison.relative("norm of all gradients", totalNorm(policy), norm, "gradients");
  clearGradients(policy);
  compareDemonstrations(it, policy, inputs, comparison);
}

/** PPO's clipped objective with fixed advantages, a value term and an entropy bonus, as inputs.json spells it. */
function recordedLoss(it: Pi0Case, policy: Pi0Policy, inputs: ForwardInputs): Tensor {
  const { device } = policy;
  const now = policy.evaluate({ forwardInputs: inputs }, { entropy: "learned" });
  const advantages = it.inputs.get("advantages")!.to({ device });
  const ratio = now.logProbs.sub(it.inputs.get("old_logprobs")!.to({ device })).exp();
  const gain = ratio.mul(advantages).minimum(ratio.clamp(0.8, 1.2).mul(advantages));
  const policyLoss = gain.mean().neg();
  const withValues = now.values ? policyLoss.add(now.values.square().mean().mul(0.5)) : policyLoss;
  return now.entropy ? withValues.sub(now.entropy.mean().mul(0.01)) : withValues;
}

function compareDemonstrations(
  it: Pi0Case,
  policy: Pi0Policy,
  inputs: ForwardInputs,
  comparison: Comparison,
): void {
  const theirs = it.outputs.get("sft_loss_elementwise");
  if (!theirs) return;
  const { device } = policy;
  const [actions, noise, time] = ["actions", "noise", "time"].map((name) => it.inputs.get(`sft_${name}`)!);
  const recorded = { ...inputs, demonstrated_actions: actions!, noise: noise!, time: time! };
  scope(() => {
    const [a, n, t] = [actions!, noise!, time!].map((x) => x.to({ device })) as [Tensor, Tensor, Tensor];
    const ours = policy.denoiser.matchingLoss(policy.scene(inputs), a, n, t);
    comparison.relative("sft_loss_elementwise", ours, theirs, "features");
    const loss = policy.supervisedLoss({ forwardInputs: recorded });
    comparison.absolute("sft loss", loss, theirs.mean(), "loss");
    loss.backward();
  });
  compareNamed("sft_grad.", it, policy, comparison);
  clearGradients(policy);
}

function compareNamed(prefix: string, it: Pi0Case, policy: Pi0Policy, comparison: Comparison): void {
  const weights = policy.module.namedParameters();
  for (const [name, theirs] of it.outputs) {
    if (!name.startsWith(prefix)) continue;
    const gradient = weights.get(name.slice(prefix.length))?.grad;
    if (gradient) comparison.gradient(name, gradient, theirs);
    else comparison.failed(`${name.slice(prefix.length)} has no gradient, and the reference has one`);
  }
}

const gradientsOf = (policy: Pi0Policy): Tensor[] =>
  policy.module.parameters().flatMap(({ grad }) => (grad ? [grad] : []));

function totalNorm(policy: Pi0Policy): Tensor {
  const squares = gradientsOf(policy).map((gradient) => gradient.float().square().sum());
  return squares.reduce((sum, square) => sum.add(square)).sqrt();
}

function clearGradients(policy: Pi0Policy): void {
  for (const gradient of gradientsOf(policy)) gradient.zero_();
}
