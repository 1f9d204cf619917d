/** `fetch libero`: prepares a benchmark's files on this machine, once. */
import { parseArgs } from "node:util";
import { liberoFolder, prepareLibero } from "#envs";
import { UserError } from "#registry";
import type { Command } from "./command.ts";

export const fetchCommand: Command = {
  usage: "fetch libero [--from FOLDER|ARCHIVE] [--to FOLDER] [--wheels FOLDER]",

  async run(argv) {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: { from: { type: "string" }, to: { type: "string" }, wheels: { type: "string" } },
    });
    if (positionals.length !== 1 || positionals[0] !== "libero")
      throw new UserError(`fetch what? there is: libero; usage: reverie ${this.usage}`);
    const folder = values.to ?? liberoFolder();
    const { from, wheels } = values;
    const options = { folder, ...(from !== undefined && { from }), ...(wheels !== undefined && { wheels }) };
    const began = performance.now();
    const say = (line: string) =>
      console.log(`[${((performance.now() - began) / 1000).toFixed(1)} s] ${line}`);
    const { files, bytes, fetched } = await prepareLibero({ ...options, say });
    say(
      `${fetched} files written; ${files} files (${(bytes / 1e6).toFixed(0)} MB) of LIBERO ready in ${folder}`,
    );
  },
};
