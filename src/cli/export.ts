/** `export lerobot DEMONSTRATIONS OUT`: hands demonstrations to other tools. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { counted } from "#metrics";
import { exportLerobot, openDemonstrations } from "#recordings";
import { UserError } from "#registry";
import type { Command } from "./command.ts";

const usage = "export lerobot DEMONSTRATIONS OUT";

export const exportCommand: Command = {
  usage,
  options: {},
  words: () => ["lerobot"],
  details:
    "DEMONSTRATIONS is a folder of reverie collect; OUT becomes a LeRobot dataset (v3.0) that the lerobot package loads.",

  async run(argv) {
    const { positionals } = parseArgs({ args: argv, allowPositionals: true, options: {} });
    const [format, from, to, ...extra] = positionals;
    if (format !== "lerobot" || from === undefined || to === undefined || extra.length > 0)
      throw new UserError(`usage: reverie ${usage}`);
    if (existsSync(to) && readdirSync(to).length > 0)
      throw new UserError(`${to} is not empty; name another folder or remove it`);
    const demonstrations = openDemonstrations(from);
    if (demonstrations.episodes.length === 0) throw new UserError(`${from} holds no episode to export`);
    mkdirSync(to, { recursive: true });
    exportLerobot(demonstrations, to, ({ done, total }) => console.error(`shard ${done} of ${total}`));
    console.log(`${counted(demonstrations.episodes.length, "episode")} as a LeRobot dataset (v3.0) in ${to}`);
  },
};
