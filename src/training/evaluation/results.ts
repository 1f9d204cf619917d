/** `results.json`: what was evaluated, by which protocol, with which result; and the same as a table for people. */
import { z } from "zod";
import type { CheckedConfig } from "#config";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import { versions } from "../versions.ts";
import type { EvaluationResult } from "./evaluate.ts";
import { startsPlayed } from "./played-starts.ts";
import { rateOf } from "./statistics.ts";

const rate = { success: z.number(), low: z.number(), high: z.number(), episodes: z.int() };
const trial = z.object({
  task: z.string(),
  trial: z.int(),
  pass: z.int(),
  success: z.boolean(),
  length: z.number(),
});

export const evaluationFile = z.looseObject({
  kind: z.literal("evaluation"),
  config: z.string(),
  model: z.string(),
  protocol: z.looseObject({ env: z.string(), suite: z.string().nullable() }),
  ...rate,
  tasks: z.array(z.object({ task: z.string(), ...rate })),
  trials: z.array(trial),
  versions: z.record(z.string(), z.string()),
  seconds: z.number(),
});
export type EvaluationFile = z.infer<typeof evaluationFile>;

export function describeEvaluation(checked: CheckedConfig, result: EvaluationResult): EvaluationFile {
  const { config } = checked;
  const section = config.env.eval ?? config.env.train;
  const { episodes, sampling, passes, share, seconds } = result;
  const tasks = [...new Set(episodes.map(({ task }) => task))].map((task) => ({
    task,
    ...rateOf(episodes.filter((each) => each.task === task)),
  }));
  return {
    kind: "evaluation",
    config: checked.name,
    model: config.actor.model.model_path,
    protocol: {
      env: section.env_type,
      suite: typeof section.task_suite_name === "string" ? section.task_suite_name : null,
      passes,
      starts: startsPlayed(checked),
      ...(share < 1 && { share_of_starts: share }),
      sampling: sampling.mode,
      temperature: sampling.mode === "sample" ? sampling.temperature : null,
      top_k: sampling.topK,
      max_episode_steps: section.max_episode_steps,
      ignore_terminations: section.ignore_terminations,
      seed: config.runner.seed,
    },
    ...rateOf(episodes),
    tasks,
    trials: [...episodes],
    versions: versions(),
    seconds,
  };
}

export function writeEvaluation(path: string, file: EvaluationFile): void {
  writeJsonFile(path, file);
}

export function readEvaluation(path: string): EvaluationFile {
  const parsed = evaluationFile.safeParse(readJsonFile(path));
  if (parsed.success) return parsed.data;
  throw new UserError(`${path} is not the result of reverie eval: ${z.prettifyError(parsed.error)}`);
}

/** "task   success   95 % interval   episodes", one line each, and the whole at the end. */
export function evaluationTable({ tasks, success, low, high, episodes }: EvaluationFile): string {
  const rows = [...tasks, { task: "all", success, low, high, episodes }];
  const width = Math.max(...rows.map(({ task }) => task.length), 4);
  const line = (task: string, rest: string): string => `${task.padEnd(width)}  ${rest}`;
  return [
    line("task", "success   95 % interval    episodes"),
    ...rows.map((row) =>
      line(
        row.task,
        `${percent(row.success).padStart(7)}   ${percent(row.low).padStart(6)} – ${percent(row.high).padEnd(7)}  ${String(row.episodes).padStart(7)}`,
      ),
    ),
  ].join("\n");
}

export const percent = (share: number): string =>
  Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)} %`;
