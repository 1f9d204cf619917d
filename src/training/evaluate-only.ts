/** Evaluation without training: rollout and env workers only. */
import type { CheckedConfig } from "#config";
import { startRollouts } from "./assemble.ts";
import { type EvaluationResult, Evaluator } from "./evaluation/evaluate.ts";
import { layOver } from "./lay-over.ts";
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
