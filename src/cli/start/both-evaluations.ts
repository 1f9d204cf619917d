/**
 * What the main job measures before and after training: success on the stored starts, which training draws from, and on fresh ones, which
 * it never sees.
 */
import type { CheckedConfig } from "#config";
import { findSuite } from "#simulators";
import type { EvaluationFile } from "#training";

export interface Evaluated {
  readonly stored: EvaluationFile;
  readonly fresh?: EvaluationFile;
}

export const secondsOf = ({ stored, fresh }: Evaluated): number => stored.seconds + (fresh?.seconds ?? 0);

/** Half as many as are stored: the job's time is for learning. Always the same scenes, so that jobs can be compared. */
const freshPerTask = 25;
export const freshOverrides = ["++env.eval.starts=fresh", `++env.eval.starts_per_task=${freshPerTask}`];

/** Fresh starts that this configuration can be evaluated on; none where its evaluation is not on stored starts of a simulator. */
export function freshEpisodes({ config, families }: CheckedConfig): number {
  const { starts = "stored", task_suite_name, task_id_filter } = config.env.eval ?? config.env.train;
  if (families[config.env.eval ? "eval" : "train"]?.plays !== "suite" || starts !== "stored") return 0;
  const chosen = task_id_filter as readonly number[] | null | undefined;
  return freshPerTask * (chosen ?? findSuite(String(task_suite_name)).tasks).length;
}
