/** `compare A B`: two evaluations of the same starts, start by start, with a test of whether the difference is luck. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import { compareEvaluations, comparisonText, readEvaluation } from "#training";
import type { Command } from "./command.ts";

const options = { json: { type: "boolean", default: false } } as const;

export const compareCommand: Command = {
  usage: "compare A B [--json]",
  options,
  details:
    "A and B are folders of reverie eval, or their results.json, from the same starts. Says how many starts were gained and\n" +
    "lost, with an exact test of whether that may be luck.",

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    const [first, second, ...extra] = positionals;
    if (first === undefined || second === undefined || extra.length > 0)
      throw new UserError(`compare takes two evaluations; usage: reverie ${this.usage}`);
    const comparison = compareEvaluations(readEvaluation(fileOf(first)), readEvaluation(fileOf(second)));
    console.log(values.json ? JSON.stringify(comparison, null, 2) : comparisonText(comparison));
  },
};

function fileOf(path: string): string {
  if (!existsSync(path)) throw new UserError(`there is no ${path}`);
  return statSync(path).isDirectory() ? join(path, "results.json") : path;
}
