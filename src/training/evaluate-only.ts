/** Evaluation without training: rollout and env workers only. */
import { LocalWeightSync } from "#cluster";
import type { CheckedConfig } from "#config";
import type { Decider } from "#workers";
import { startRollouts } from "./assemble.ts";
import { type EvaluationResult, Evaluator } from "./evaluation/evaluate.ts";
import type { EvaluationShare } from "./evaluation/play.ts";
import { readWeights } from "./lay-over.ts";
import type { Reporter } from "./reporter.ts";

/** @param part which part of every task's starts; may be lowered while it runs. */
export async function evaluateOnly(
  checked: CheckedConfig,
  reporter: Reporter,
  part?: EvaluationShare,
): Promise<EvaluationResult> {
  reporter.doing("load_policy");
  const rollouts = await startRollouts(checked, undefined);
  const { ckpt_path: over } = checked.config.runner;
  if (over) await layOverAll(rollouts, over);
  const evaluator = new Evaluator(checked, rollouts, reporter.say);
  try {
    reporter.doing("start_envs");
    return await evaluator.evaluate({
      extent: "all",
      part,
      onProgress: (done, total) => reporter.doing("eval", done, total),
    });
  } finally {
    await evaluator.close();
    await Promise.all(rollouts.map((worker) => worker.close()));
  }
}

/** As if an actor had published the file's weights. */
async function layOverAll(rollouts: readonly Decider[], path: string): Promise<void> {
  const sync = new LocalWeightSync();
  await sync.publish(0, readWeights(path));
  for (const worker of rollouts) await worker.refreshWeights(sync);
}
