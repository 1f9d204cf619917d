/** `collect SUITE`: lets the scripted experts demonstrate a suite's tasks and keeps what they saw and did. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { handsOf } from "#engine";
import { counted } from "#metrics";
import { type CollectSettings, collectSettingsSchema } from "#recordings";
import { UserError } from "#registry";
import { findSuite, suiteNames } from "#simulators";
import type { Command } from "../command.ts";
import { nextText } from "../next-commands.ts";
import { checked, wholeNumber } from "../option-values.ts";
import { inEmptyFolder } from "../own-folder.ts";
import { collectDemonstrations } from "./collect.ts";
import { ProgressLine } from "./progress-line.ts";

const settingOptions = {
  size: { type: "string" },
  wrist: { type: "boolean" },
  starts: { type: "string" },
  seed: { type: "string" },
  "max-steps": { type: "string" },
  "steps-after-success": { type: "string" },
  "keep-failures": { type: "boolean" },
  noise: { type: "string" },
  "noise-persistence": { type: "string" },
  "gripper-flips": { type: "string" },
  "grasp-error": { type: "string" },
  "place-error": { type: "string" },
  "wrong-object": { type: "string" },
} as const;

const options = {
  ...settingOptions,
  out: { type: "string" },
  episodes: { type: "string", default: "50" },
  tasks: { type: "string" },
  workers: { type: "string", default: String(availableParallelism()) },
} as const;

const usage = "collect SUITE [options]";

const details = `  --out DIR                 where to; default demonstrations/SUITE
  --episodes N              episodes to try for each task; default 50
  --tasks 0,3,5             only these tasks of the suite, by number
  --workers N               processes; default one per core
  --size 128                width and height of the pictures; --wrist keeps the wrist camera too
  --starts fresh|stored     new starts, or those that evaluations use; default fresh
  --seed 0  --max-steps N  --steps-after-success 0
  --keep-failures           also keep episodes that did not succeed
  --noise 0.15              disturbs what is executed; the expert's own answers stay the labels
  --noise-persistence 0.7  --gripper-flips 0
  --grasp-error 0  --place-error 0  --wrong-object 0    mistakes, to show a world model what failing looks like`;

export const collectCommand: Command = {
  usage,
  details,
  options,
  words: suiteNames,

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    const [suite, ...extra] = positionals;
    if (suite === undefined || extra.length > 0)
      throw new UserError(`which suite? there are: ${suiteNames().join(", ")}`);
    const settings = readSettings(suite, values);
    const work = {
      settings,
      tasks: readTasks(suite, values.tasks),
      episodesPerTask: wholeNumber("--episodes", values.episodes),
      workers: wholeNumber("--workers", values.workers),
    };
    const line = new ProgressLine(`collecting ${suite}`);
    const onProgress = line.show.bind(line);
    const out = resolve(values.out ?? `demonstrations/${suite}`);
    const result = await inEmptyFolder(out, `reverie collect ${suite}`, () =>
      collectDemonstrations({ ...work, out, onProgress }),
    );
    line.end();
    for (const { sentence, successes, attempts } of result.tasks)
      console.log(`${String(successes).padStart(6)} of ${attempts}  ${sentence}`);
    console.log(`${counted(result.episodes, "episode")}, ${counted(result.frames, "frame")} in ${out}`);
    if (handsOf(findSuite(suite).pack) > 1) return; // no shipped policy has two arms yet
    const learn = ["sft", "--data", out, "--new", "mini", "--out", `runs/${suite}`];
    console.log(nextText([{ words: learn, why: "a small policy learns from them" }]));
  },
};

type Values = Readonly<Record<string, string | boolean | undefined>>;

function readSettings(suite: string, values: Values): CollectSettings {
  const given: Record<string, unknown> = { suite, max_steps: findSuite(suite).expertSteps };
  for (const option of Object.keys(settingOptions)) {
    const value = values[option];
    if (value === undefined) continue;
    given[option.replaceAll("-", "_")] = typeof value === "string" ? numberOrText(value) : value;
  }
  return checked(collectSettingsSchema, given);
}

const numberOrText = (value: string): number | string =>
  value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;

function readTasks(suite: string, text: string | undefined): number[] {
  const { tasks } = findSuite(suite);
  if (text === undefined) return tasks.map((_, index) => index);
  return text.split(",").map((word) => {
    const index = Number(word);
    if (word.trim() !== "" && tasks[index]) return index;
    throw new UserError(`--tasks: ${suite} has tasks 0 to ${tasks.length - 1}, not "${word}"`);
  });
}
