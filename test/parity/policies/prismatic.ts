/**
 * Every check of an OpenVLA or OpenVLA-OFT case: pictures, prompt, features, logits, log-probabilities, entropy,
 * values, actions, gradients, and adapters merged.
 */
import type { ForwardInputs } from "#data";
import { noGrad, scope, type Tensor, tensor } from "#tensor";
import { mergeAdapters } from "../../../src/policies/lora.ts";
import type { Comparison } from "./comparison.ts";
import { loadCase, type PrismaticCase, type PrismaticPolicy, readCase } from "./prismatic-case.ts";
import { compareGradients } from "./prismatic-gradients.ts";
import { compareInside } from "./prismatic-inside.ts";

export async function runPrismatic(folder: string, comparison: Comparison): Promise<void> {
  const it = readCase(folder);
  const policy = loadCase(it, comparison);
  const inputs = compareInputs(it, policy, comparison);
  scope(() => noGrad(() => compareInside(it, policy, inputs, comparison)));
  compareAnswers(it, policy, inputs, comparison);
  compareRepeats(it, policy, comparison);
  compareActions(it, policy, comparison);
  compareGradients(it, policy, inputs, comparison);
  if (it.isLora) compareMerged(it, policy, comparison);
  policy.dispose();
}

/** What the policy makes of the observation, with the recorded actions: the sample that the rest judges. */
function compareInputs(it: PrismaticCase, policy: PrismaticPolicy, comparison: Comparison): ForwardInputs {
  const { forwardInputs } = policy.act(it.observation, { mode: "greedy" });
  comparison.absolute("prompt ids", forwardInputs.input_ids!, it.prompt.ids, "exact");
  comparison.absolute("prompt mask", forwardInputs.attention_mask!, it.prompt.mask, "exact");
  const proprio = it.outputs.get("proprio_normalized");
  if (proprio) comparison.absolute("proprioception", forwardInputs.proprio!, proprio.float(), "exact");
  return { ...forwardInputs, action_tokens: recordedTokens(it, policy) };
}

/** Absolute ids, [B, C, D]. */
function recordedTokens(it: PrismaticCase, policy: PrismaticPolicy): Tensor {
  const shape = [-1, policy.chunk, policy.actionSize];
  const absolute = it.inputs.get("action_tokens");
  if (absolute) return absolute.reshape(shape);
  return it.inputs.get("action_tokens_relative")!.reshape(shape).add(policy.codec.tokens.firstId);
}

function compareAnswers(
  it: PrismaticCase,
  policy: PrismaticPolicy,
  inputs: ForwardInputs,
  comparison: Comparison,
): void {
  const { temperature, topK } = it;
  scope(() =>
    noGrad(() => {
      const judged = policy.evaluate({ forwardInputs: inputs }, { temperature, topK, entropy: "learned" });
      for (const name of ["logprobs", "prev_logprobs"]) {
        const theirs = it.outputs.get(name);
        if (theirs) comparison.absolute(name, judged.logProbs, theirs, "logprobs");
      }
      for (const name of ["values", "prev_values"]) {
        const theirs = it.outputs.get(name);
        if (theirs) comparison.absolute(name, judged.values!, theirs, "values");
      }
      const entropy = it.outputs.get("entropy");
      if (entropy) comparison.absolute("entropy", judged.entropy!, entropy, "logprobs");
    }),
  );
}

/** Judging what acting just did: to the bit when both run the same shapes, to rounding when padding is cut or tokens cached. */
function compareRepeats(it: PrismaticCase, policy: PrismaticPolicy, comparison: Comparison): void {
  scope(() =>
    noGrad(() => {
      const sampling = { temperature: it.temperature, topK: it.topK };
      const step = policy.act(it.observation, { mode: "sample", ...sampling });
      const exact = it.family === "openvla_oft" && comparison.device === "cpu" ? "exact" : "logprobs";
      const again = policy.evaluate(step, sampling);
      comparison.absolute("log-probs judged again after acting", again.logProbs, step.logProbs, exact);
      const trimmed = loadCase(it, comparison, { trim_padding: true });
      comparison.absolute(
        "log-probs without padding",
        trimmed.evaluate(step, sampling).logProbs,
        again.logProbs,
        "logprobs",
      );
      trimmed.dispose();
    }),
  );
}

function compareActions(it: PrismaticCase, policy: PrismaticPolicy, comparison: Comparison): void {
  const { codec } = policy;
  const denormalized = (ids: Tensor): Tensor => tensor(codec.denormalized(ids.toArray()));
  const actions = it.outputs.get("actions");
  const recorded = recordedTokens(it, policy);
  if (actions) comparison.absolute("actions", denormalized(recorded), actions, "actions");
  const relative = it.outputs.get("greedy_action_tokens_relative")?.add(codec.tokens.firstId);
  const greedy = it.outputs.get("greedy_action_tokens") ?? relative;
  if (!greedy || !comparison.isExact) return;
  const ours = policy.act(it.observation, { mode: "greedy" }).forwardInputs.action_tokens!;
  comparison.absolute("greedy action tokens", ours, greedy, "exact");
  const greedyActions = it.outputs.get("greedy_actions");
  if (greedyActions) comparison.absolute("greedy actions", denormalized(ours), greedyActions, "actions");
}

/** After merging, the plain network must have the recorded weights; comes last, since it changes the policy. */
function compareMerged(it: PrismaticCase, policy: PrismaticPolicy, comparison: Comparison): void {
  mergeAdapters(policy.module);
  const { firstId, bins } = policy.codec.tokens;
  const weights = policy.module.namedParameters();
  for (const [name, theirs] of it.outputs) {
    if (!name.startsWith("merged.")) continue;
    const ours = weights.get(name.slice("merged.".length))!;
    const rows = ours.size(0) === theirs.size(0) ? ours : ours.narrow(0, firstId, bins);
    comparison.relative(name, rows, theirs, "features");
  }
}
