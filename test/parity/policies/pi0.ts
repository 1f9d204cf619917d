/**
 * Every check of a π0 or π0.5 case: pictures, prompt, state, features, embeddings, velocity, chains drawn and judged
 * again, values, actions, the loss of demonstrations, and gradients.
 */
import type { ForwardInputs } from "#data";
import { noGrad, scope, type Tensor, tensor } from "#tensor";
import { certainSteps } from "../../../src/policies/pi0/denoiser.ts";
import type { Pi0Policy } from "../../../src/policies/pi0/pi0-policy.ts";
import type { Comparison, Quantity } from "./comparison.ts";
import { loadPi0Case, type Pi0Case, readPi0Case, recordedSample } from "./pi0-case.ts";
import { comparePi0Gradients } from "./pi0-gradients.ts";
import { comparePi0Inside } from "./pi0-inside.ts";

/** Compares with the recorded quantity of that name, if there is one. */
export type Check = (name: string, ours: () => Tensor, quantity: Quantity, theirs?: Tensor) => void;

export async function runPi0(folder: string, comparison: Comparison): Promise<void> {
  const it = readPi0Case(folder);
  const policy = loadPi0Case(it, comparison);
  const check: Check = (name, ours, quantity, theirs = it.outputs.get(name)) => {
    if (!theirs) return;
    const relative = quantity === "features" || quantity === "logits" || quantity === "gradients";
    scope(() => noGrad(() => comparison[relative ? "relative" : "absolute"](name, ours(), theirs, quantity)));
  };
  const inputs = recordedSample(policy.reader.describe(it.observation), it);
  comparePi0Inputs(it, inputs, check);
  comparePi0Inside(it, policy, inputs, check);
  compareChains(it, policy, inputs, check);
  compareActions(it, policy, check);
  compareRepeat(it, policy, comparison);
  comparePi0Gradients(it, policy, inputs, comparison);
  policy.dispose();
}

function comparePi0Inputs(it: Pi0Case, inputs: ForwardInputs, check: Check): void {
  check("prompt ids", () => inputs.tokenized_prompt!, "exact", it.inputs.get("tokenized_prompt"));
  const mask = it.inputs.get("tokenized_prompt_mask")!.bool();
  check("prompt mask", () => inputs.tokenized_prompt_mask!, "exact", mask);
  check("state_normalized", () => inputs.state!, "values");
}

/** The recorded draws through our chain, then the recorded chain judged. */
function compareChains(it: Pi0Case, policy: Pi0Policy, inputs: ForwardInputs, check: Check): void {
  const { device, denoiser } = policy;
  const cut = (x: Tensor): Tensor => x.narrow(1, 0, policy.chunk).narrow(2, 0, policy.actionSize);
  const noise = it.inputs.get("noise_draws")!.to({ device }).unbind(0);
  const N = noise.length - 1;
  scope(() =>
    noGrad(() => {
      const scene = policy.scene(inputs);
      const steps = it.inputs.get("denoise_inds")!.to({ device });
      const chain = denoiser.draw(scene, noise, steps);
      check("chains", () => chain.stages_BNHA, "logits");
      check("actions_model", () => chain.stages_BNHA.select(1, N), "logits");
      check("prev_logprobs", () => cut(chain.logProbs_BHA), "logprobs");
      if (chain.ofAllSteps_B1) check("prev_values", () => chain.ofAllSteps_B1!, "values");
      const judged = policy.evaluate({ forwardInputs: inputs }, { entropy: "learned" });
      check("logprobs", () => judged.logProbs, "logprobs");
      if (judged.values) check("values", () => judged.values!, "values");
      // Of noise that is not learned the reference says 0, and we nothing.
      check("entropy", () => judged.entropy?.mean([1, 2]) ?? judged.logProbs.mean([1, 2]).mul(0), "logprobs");
      const ode = (steps: number): Tensor => {
        const certain = certainSteps(noise[0]!.size(0), steps).to({ device });
        const draws = Array.from({ length: steps + 1 }, () => noise[0]!);
        return denoiser.draw(scene, draws, certain).stages_BNHA.select(1, steps);
      };
      check("eval_actions_ode", () => ode(N), "logits");
      check("eval_actions_ode10", () => ode(10), "logits");
    }),
  );
}

/** The recorded model actions in the environment's units. */
function compareActions(it: Pi0Case, policy: Pi0Policy, check: Check): void {
  const model = it.outputs.get("actions_model")!;
  const env = (): Tensor => tensor(policy.codec.toEnv(model, it.observation.states));
  check("actions_env", env, "actions");
}

/** What the policy draws by itself, judged again: to the bit in float32 on the CPU. */
function compareRepeat(it: Pi0Case, policy: Pi0Policy, comparison: Comparison): void {
  scope(() =>
    noGrad(() => {
      const step = policy.act(it.observation, { mode: "sample" });
      const judged = policy.evaluate(step);
      const quantity = comparison.isExact && policy.device === "cpu" ? "exact" : "logprobs";
      comparison.absolute("own log-probs judged again", judged.logProbs, step.logProbs, quantity);
      if (judged.values && step.values)
        comparison.absolute("own values judged again", judged.values, step.values, quantity);
    }),
  );
}
