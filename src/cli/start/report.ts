/** What the main job says at its end: a table, a verdict, where things are, and how to go on. */
import { join } from "node:path";
import { counted, formatDuration } from "#metrics";
import { percent } from "#training";
import { type NextCommand, nextText } from "../next-commands.ts";
import type { Change, ImprovementFile } from "./improvement.ts";
import type { JobResult } from "./job.ts";

type Rate = ImprovementFile["before"];

export function reportText(result: JobResult): string {
  const { file, folder } = result;
  const { training, seconds } = file;
  const limited = training.ended_by === "time" ? ` (of ${training.planned_steps}; the time was up)` : "";
  const files = Object.entries(file.files).map(([name, path]) => [
    name.replaceAll("_", " "),
    join(folder, path),
  ]);
  return [
    "",
    table(file),
    "",
    verdict(file),
    "",
    `${counted(training.steps, "training step")}${limited}, ${counted(training.episodes, "episode")}, ${formatDuration(seconds)} in all`,
    ...[["results", join(folder, "results.json")], ...files].map(
      ([name = "", path]) => `  ${name.padEnd(15)} ${path}`,
    ),
    nextText(nextCommands(result)),
  ].join("\n");
}

function table({ tasks, before, after, fresh }: ImprovementFile): string {
  const words = tasks.map((row) => ({ ...row, task: row.task.replaceAll("_", " ") }));
  const rows = [
    ...words,
    { task: fresh ? "all stored starts (training draws from them)" : "all", before, after },
    ...(fresh ? [{ task: "fresh starts (training never sees them)", ...fresh }] : []),
  ];
  const width = Math.max(...rows.map(({ task }) => task.length), 4);
  const interval = ({ success, low, high }: Rate): string =>
    `${percent(success).padStart(7)}  ${percent(low).padStart(6)} – ${percent(high).padEnd(7)}`;
  const head = (name: string): string => `${name.padStart(7)}  ${"95 % interval".padEnd(16)}`;
  return [
    `${"task".padEnd(width)}  ${head("before")}  ${head("after")}  starts`,
    ...rows.map(
      (row) =>
        `${row.task.padEnd(width)}  ${interval(row.before)}  ${interval(row.after)}  ${String(row.after.episodes).padStart(6)}`,
    ),
  ].join("\n");
}

export function verdict(file: ImprovementFile): string {
  const note = file.control ? "control run, advantages shuffled: there was nothing to learn\n" : "";
  if (!file.fresh) return note + changeText(file);
  return `${note}stored starts: ${changeText(file)}\nfresh starts: ${changeText(file.fresh)}`;
}

function changeText({ gain, significance }: Change): string {
  const { p, gained, lost, significant, intervals_overlap: overlap } = significance;
  const points = `${gain >= 0 ? "+" : ""}${(100 * gain).toFixed(1)} points`;
  const numbers = `${counted(gained, "start")} gained, ${lost} lost, exact McNemar p = ${p < 1e-4 ? p.toExponential(1) : p.toFixed(4)}`;
  const intervals = overlap ? "the 95 % intervals overlap" : "the 95 % intervals do not overlap";
  const words = !significant
    ? `no significant change: ${points}, which may be luck`
    : gain > 0
      ? `the policy is better: ${points}`
      : `the policy is worse: ${points}`;
  return `${words}\n  ${numbers}; ${intervals}`;
}

/** With the settings of this run, and the folders as it was given them. */
function nextCommands({ file, folder, checkpoint, overrides }: JobResult): NextCommand[] {
  const { config, training, control } = file;
  const same = overrides.filter((text) => !text.startsWith("runner.max_epochs="));
  const unshuffled = same.filter((text) => !/^algorithm\.shuffle_(advantages|within_groups)=/.test(text));
  const more = `runner.max_epochs=${training.steps + 30}`;
  return [
    { words: ["train", config, "--resume", "--out", folder, ...same, more], why: "train on" },
    {
      words: ["eval", config, "--model", checkpoint, "--greedy", ...same],
      why: "the likeliest actions, not samples",
    },
    control
      ? { words: ["start", ...unshuffled], why: "the same with true advantages" }
      : {
          words: ["start", "--control", ...same],
          why: "the same with shuffled advantages: must not improve",
        },
  ];
}
