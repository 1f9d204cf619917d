/** `eval CONFIG`: plays every start of the evaluation's suite and says how often the policy succeeds, task by task. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { counted } from "#metrics";
import { UserError } from "#registry";
import {
  dryRun,
  evaluationTable,
  holdFolder,
  patienceOf,
  readEvaluation,
  readRun,
  startsText,
} from "#training";
import type { Command } from "./command.ts";
import { configNames, parseRunArguments, type RunArguments, readingOf, runOptions } from "./run/arguments.ts";
import { attendEngine } from "./run/attend-engine.ts";
import { openScreen } from "./run/screen.ts";

const { resume: _onlyTraining, ...options } = runOptions;

export const evalCommand: Command = {
  options,
  words: configNames,
  usage:
    "eval CONFIG [key=value…] [--model DIR] [--starts fresh[:SEED]] [--greedy] [--dry-run] [--out DIR] [--device cpu|cuda] [--config-path DIR]",

  details: `Plays every start of env.eval's suite. CONFIG is any configuration with env.eval; RLinf's evaluation files, which have no algorithm, actor and
env.train, work as they are. Two evaluations of the same starts can be compared: reverie compare.

  --model DIR       a model folder, adapters, or a checkpoint of a run, in place of the configuration's
  --starts fresh    new scenes of the same tasks, which no command trains on; fresh:1, fresh:2 … are others. Default: the stored
                    starts, which training in the simulator draws from
  --starts-per-task N     of fresh ones; default as many as are stored, at most 1000
  --greedy          the most probable action instead of a sampled one
  --out DIR         where results.json goes; default logs/<time>-<config>
  key=value, --dry-run, --device, --config-path: as for reverie train

  reverie eval quickstart --model logs/<run>/quickstart/checkpoints/latest --starts fresh`,

  async run(argv) {
    const wishes = parseRunArguments(argv, this);
    const evaluation = { ...wishes, overrides: ["runner.only_eval=True", ...wishes.overrides] };
    if (wishes.dryRun) console.log((await dryRun(evaluation.config, readingOf(evaluation))).text);
    else await runEvaluation(evaluation);
  },
};

export async function runEvaluation(wishes: RunArguments): Promise<void> {
  const { config, overrides, configPath, folder } = wishes;
  const checked = await readRun(config, { ...readingOf(wishes), requireFiles: true });
  const resultFile = join(folder, "results.json");
  const lock = holdFolder(folder, `an evaluation of ${checked.name}`);
  try {
    requireNoResults(folder);
    const screen = openScreen(checked.name, folder, 0);
    await attendEngine({ work: "evaluate", config, overrides, configPath, resultFile }, screen, {
      patience: patienceOf(checked.config.runner),
      folder,
      again: `reverie eval ${config} --out ${folder}`,
    });
  } finally {
    lock?.release();
  }
  const file = readEvaluation(resultFile);
  const { sampling, temperature, passes } = file.protocol;
  const how = sampling === "sample" ? `sampled at temperature ${temperature}` : "greedy";
  console.log(
    `${file.protocol.suite ?? file.protocol.env}, ${how}, ${counted(Number(passes), "pass", "passes")}, ${file.model}`,
  );
  console.log(`${startsText(file.protocol.starts)}\n`);
  console.log(evaluationTable(file));
  console.log(`\n${resultFile}`);
}

/** Results of another evaluation, or the numbers of a run, would be overwritten or taken for this one's. */
function requireNoResults(folder: string): void {
  const found = ["results.json", "metrics.jsonl", "run.json"].find((name) => existsSync(join(folder, name)));
  if (found !== undefined)
    throw new UserError(
      `${folder} already holds results (${found}); give the evaluation another --out, or leave it out: logs/<time>-<config>`,
    );
}
