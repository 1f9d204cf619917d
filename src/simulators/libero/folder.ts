/** Where LIBERO's fetched files live, and what to say when one is missing. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { UserError } from "#registry";

/** `$REVERIE_HOME/libero`, else `~/.cache/reverie/libero`. */
export function liberoFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment.REVERIE_HOME ?? join(homedir(), ".cache", "reverie"), "libero");
}

export function resolveIn(folder: string, file: string): string {
  const path = join(folder, file);
  if (existsSync(path)) return path;
  const advice =
    "run `reverie fetch libero` to prepare LIBERO's files, or `reverie fetch libero --from PATH`";
  throw new UserError(`LIBERO's ${file} is not in ${folder}; ${advice}`);
}
