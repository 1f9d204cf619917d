/**
 * Where set-up put the addons (`build/`) and what it fetched (`.deps/`): beside the sources, or, where a package is installed in a folder
 * that its user may not write to, in the user's cache. scripts/setup/folders.mjs decides the same way.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("../../", import.meta.url));

export function setUpFolder(): string {
  if (existsSync(join(home, "build"))) return home;
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  const cache = join(process.env.REVERIE_HOME ?? join(homedir(), ".cache", "reverie"), `set-up-${version}`);
  return existsSync(join(cache, "build")) ? cache : home;
}

/** What to run where set-up has not been done, or not finished. */
export const setUpAdvice = (): string =>
  existsSync(join(home, "package-lock.json")) ? "npm run native" : "npx reverie doctor";
