/** `train CONFIG`: runs a configuration from start to end, or goes on from where it stopped. */
import { join } from "node:path";
import type { CheckedConfig } from "#config";
import { checkpointRoot, dryRun, holdRunFolder, listCheckpoints, patienceOf, readRun } from "#training";
import type { Command } from "../command.ts";
import { runEvaluation } from "../eval.ts";
import { type NextCommand, nextText } from "../next-commands.ts";
import {
  configNames,
  parseRunArguments,
  type RunArguments,
  readingOf,
  runOptions,
} from "../run/arguments.ts";
import { attendEngine } from "../run/attend-engine.ts";
import { openScreen } from "../run/screen.ts";

const { greedy: _1, starts: _2, "starts-per-task": _3, ...options } = runOptions; // those of evaluations alone

export const trainCommand: Command = {
  options,
  words: configNames,
  usage:
    "train CONFIG [key=value…] [--dry-run] [--resume] [--out DIR] [--model DIR] [--device cpu|cuda] [--config-path DIR]",

  details: `CONFIG is a name from examples/embodiment/config, or a YAML file of your own (RLinf's files work as they are).

  key=value         changes a setting; +key=value adds one, ~key takes one away
  --dry-run         prints the plan: workers, batch arithmetic, memory, disk; starts nothing
  --resume          goes on from the newest whole checkpoint of this configuration's last run, or of the run in --out
  --out DIR         a folder of its own for the results; default logs/<time>-<config>
  --model DIR       a model folder, adapters, or a checkpoint of a run, in place of the configuration's
  --device cpu      leaves the accelerators alone
  --config-path DIR searched before our own configurations

  reverie train quickstart
  reverie train libero_10_grpo_openvlaoft --dry-run cluster.simulated_devices=16`,

  async run(argv) {
    const wishes = parseRunArguments(argv, this);
    const { config, overrides, configPath, folder } = wishes;
    if (wishes.dryRun) {
      console.log((await dryRun(config, readingOf(wishes))).text);
      return;
    }
    // Mistakes are told before a thread is started; the engine reads the configuration again for itself.
    const checked = await readRun(config, { ...readingOf(wishes), requireFiles: true });
    if (checked.config.runner.only_eval) {
      await runEvaluation(wishes);
      return;
    }
    const lock = holdRunFolder(checked);
    const screen = openScreen(checked.name, folder);
    screen.say(`results go to ${folder}`);
    try {
      const { stopped } = await attendEngine({ work: "train", config, overrides, configPath }, screen, {
        patience: patienceOf(checked.config.runner),
        folder,
        again: `reverie train ${config} --resume --out ${folder}`,
      });
      if (!stopped) console.log(nextText(nextCommands(wishes, checked)));
    } finally {
      lock?.release();
    }
  },
};

/** With the settings of this run; without a checkpoint there is nothing to evaluate or to go on from. */
function nextCommands({ config, folder, overrides }: RunArguments, checked: CheckedConfig): NextCommand[] {
  const root = checkpointRoot(checked);
  if (listCheckpoints(root).length === 0)
    return [
      { words: ["train", config, "--dry-run"], why: "no checkpoint was asked for (runner.save_interval)" },
    ];
  const same = overrides.filter(
    (text) => !/^\+*runner\.(logger\.log_path|resume_dir|max_epochs)=/.test(text),
  );
  const own = same.filter((text) => !/^\+*(actor|rollout)\.model\.(model_path|lora_path)=/.test(text));
  return [
    {
      words: ["eval", config, "--model", join(root, "latest"), ...own],
      why: "success task by task; --starts fresh: on scenes that training never saw",
    },
    {
      words: [
        "train",
        config,
        "--resume",
        "--out",
        folder,
        ...same,
        `runner.max_epochs=${checked.config.runner.max_epochs + 10}`,
      ],
      why: "ten epochs more",
    },
  ];
}
