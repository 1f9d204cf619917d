/** `train CONFIG`: runs a configuration from start to end, or goes on from where it stopped. */
import { dryRun, readRun, startEngine } from "#training";
import type { Command } from "../command.ts";
import { runEvaluation } from "../eval.ts";
import { parseRunArguments } from "./arguments.ts";
import { openScreen, stopOnSignals } from "./screen.ts";

export const trainCommand: Command = {
  usage:
    "train CONFIG [key=value…] [--dry-run] [--resume] [--out DIR] [--model DIR] [--device cpu|cuda] [--config-path DIR]",

  async run(argv) {
    const wishes = parseRunArguments(argv, this.usage);
    const { config, overrides, configPath, folder } = wishes;
    const reading = { overrides, ...(configPath !== undefined && { configPath }) };
    if (wishes.dryRun) {
      console.log((await dryRun(config, reading)).text);
      return;
    }
    // Mistakes are told before a thread is started; the engine reads the configuration again for itself.
    const checked = await readRun(config, { ...reading, requireFiles: true });
    if (checked.config.runner.only_eval) {
      await runEvaluation(wishes);
      return;
    }
    const screen = openScreen(checked.name, folder);
    screen.say(`results go to ${folder}`);
    const engine = startEngine({ work: "train", config, overrides, configPath }, screen);
    const forget = stopOnSignals(engine, screen.say, { saves: true });
    try {
      const { stopped } = await engine.finished;
      if (stopped) screen.say(`stopped; go on with: reverie train ${config} --resume --out ${folder}`);
    } finally {
      forget();
      await screen.close();
    }
  },
};
