/** `verify DIR`: whether checkpoints are whole, file by file: of one checkpoint, or of all in a run's folder. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { counted } from "#metrics";
import { UserError } from "#registry";
import { findDamage, listCheckpoints } from "#training";
import type { Command } from "./command.ts";

export const verifyCommand: Command = {
  usage: "verify DIR",
  options: {},
  details: "DIR is a checkpoint, a folder of checkpoints, or a run's log folder.",

  async run([path, ...extra]) {
    if (path === undefined || extra.length > 0)
      throw new UserError(`verify takes one folder; usage: reverie ${this.usage}`);
    if (!existsSync(path) || !statSync(path).isDirectory()) throw new UserError(`there is no folder ${path}`);
    const folders = checkpointsIn(path);
    const damaged = folders.filter((folder) => !isWhole(folder));
    if (damaged.length > 0)
      throw new UserError(
        `damaged: ${damaged.length} of ${counted(folders.length, "checkpoint")}; a run resumes from the newest whole one`,
      );
  },
};

function checkpointsIn(path: string): string[] {
  if (existsSync(join(path, "manifest.json")) || existsSync(join(path, "state.json"))) return [path];
  const roots = [
    path,
    ...readdirSync(path).map((name) => join(path, name, "checkpoints")),
    join(path, "checkpoints"),
  ];
  const found = roots.flatMap((root) => listCheckpoints(root).map(({ folder }) => folder));
  if (found.length === 0)
    throw new UserError(`${path} holds no checkpoint: no global_step_N, no manifest.json`);
  return found;
}

function isWhole(folder: string): boolean {
  const faults = findDamage(folder);
  console.log(faults.length === 0 ? `${basename(folder)}: whole` : `${basename(folder)}: damaged`);
  for (const fault of faults) console.log(`  ${fault}`);
  return faults.length === 0;
}
