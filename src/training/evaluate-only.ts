/** Evaluation without training: rollout and env workers only. */
import type { CheckedConfig } from "#config";
import { readSafetensors, readTorchState } from "#formats";
import type { Policy } from "#policies";
import { startRollouts } from "./assemble.ts";
import { type EvaluationResult, Evaluator } from "./evaluation/evaluate.ts";
import type { Reporter } from "./reporter.ts";

export async function evaluateOnly(checked: CheckedConfig, reporter: Reporter): Promise<EvaluationResult> {
  const rollouts = await startRollouts(checked, undefined);
  const { ckpt_path: over } = checked.config.runner;
  if (over) for (const { policy } of rollouts) layOver(policy, over);
  const evaluator = new Evaluator(checked, rollouts, reporter.say);
  try {
    reporter.doing("eval");
    return await evaluator.evaluate({
      extent: "all",
      onProgress: (done, total) => reporter.doing("eval", done, total),
    });
  } finally {
    await evaluator.close();
  }
}

/** `runner.ckpt_path`: weights of a file, laid over the model after it is built. */
export function layOver(policy: Policy, path: string): void {
  const weights = path.endsWith(".safetensors") ? readSafetensors(path) : readTorchState(path);
  policy.module.loadState(weights, { strict: false, source: path });
}
