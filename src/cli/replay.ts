/** `replay FILE…`: plays recorded episodes again and says whether they are the same, bit for bit. */
import { parseArgs } from "node:util";
import { counted } from "#metrics";
import { replayEpisode } from "#recordings";
import { UserError } from "#registry";
import type { Command } from "./command.ts";

const options = { json: { type: "boolean", default: false } } as const;

export const replayCommand: Command = {
  options,
  usage: "replay FILE.replay.json… [--json]",
  details:
    "Such files are written with env.eval.video_cfg.save_replays=True. Exit code 1 if one differs, with the first step that does.",

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    if (positionals.length === 0) throw new UserError(`which episode? usage: reverie ${this.usage}`);
    const verdicts = positionals.map((path) => ({ path, ...replayEpisode(path) }));
    if (values.json) console.log(JSON.stringify(verdicts, null, 2));
    else
      for (const verdict of verdicts)
        console.log(
          verdict.identical
            ? `${verdict.path}: identical (${counted(verdict.steps, "step")}, ${verdict.success ? "success" : "failure"})`
            : `${verdict.path}: differs at step ${verdict.step} of ${verdict.steps}: ${verdict.reason}`,
        );
    if (verdicts.some(({ identical }) => !identical)) process.exitCode = 1;
  },
};
