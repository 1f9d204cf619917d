/** `start`: the main job. Evaluates the shipped policy, improves it with reinforcement learning, and evaluates it again. */
import { holdFolder, patienceOf } from "#training";
import type { Command } from "../command.ts";
import { configNames } from "../run/arguments.ts";
import { exitCodeOf, leave } from "../stop-signals.ts";
import { jobOptions, parseJob, requireUnused } from "./arguments.ts";
import { MainJob, readJob } from "./job.ts";
import { openJobScreen } from "./job-screen.ts";
import { reportText } from "./report.ts";
import { Interrupted, Stopping } from "./stopping.ts";

export const startCommand: Command = {
  options: jobOptions,
  words: configNames,
  usage:
    "start [CONFIG] [key=value…] [--seed N] [--minutes 10] [--control] [--resume] [--out DIR] [--device cpu|cuda] [--config-path DIR]",

  details: `CONFIG is quickstart unless named.

  --minutes 10      ends the training early enough for the whole job to take no longer; 0: no limit
  --control         shuffles the advantages: a run that must not improve; algorithm.shuffle_within_groups=True keeps them in their groups
  --resume          goes on where a job was interrupted
  --seed N          another seed of the run; the starts that are evaluated stay the same
  key=value, --out, --device, --config-path: as for reverie train`,

  async run(argv) {
    const job = parseJob(argv, this.usage);
    const { config } = await readJob(job);
    const lock = holdFolder(job.folder, "npm start");
    requireUnused(job);
    const { minutes, seconds } = job.state;
    const screen = openJobScreen(job.folder, { limit: 60 * minutes, spent: seconds });
    const { folder } = job;
    const stopping = new Stopping({ say: screen.say, patience: patienceOf(config.runner), folder });
    const main = new MainJob(job, screen, stopping);
    screen.say(`results go to ${job.folder}`);
    try {
      const result = await main.run();
      screen.close();
      console.log(reportText(result));
    } catch (error) {
      if (!(error instanceof Interrupted)) {
        screen.close();
        throw error;
      }
      main.keepTime();
      screen.close(`interrupted; go on with: npx reverie start --resume --out ${job.folder}`);
      leave(exitCodeOf(error.signal), folder); // threads that were ended may hold the process open
    } finally {
      stopping.close();
      lock?.release();
    }
  },
};
