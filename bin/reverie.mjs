#!/usr/bin/env node
/**
 * The `reverie` command: starts the TypeScript command line in this very process.
 *
 * tsx turns TypeScript into JavaScript as it is loaded, so there is no build step and no second process.
 */
import { existsSync, readFileSync } from "node:fs";

const tsx = new URL("../node_modules/tsx/package.json", import.meta.url);
if (!existsSync(tsx)) {
  process.stderr.write("this checkout is not set up yet; run: npm start\n");
  process.exit(2);
}
/** The loader alone opens dozens of files and a process; below this it fails with a stack that names neither cause nor cure. */
const fewestFiles = 256;
const limits = existsSync("/proc/self/limits") ? readFileSync("/proc/self/limits", "utf8") : "";
const allowed = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? fewestFiles);
if (allowed < fewestFiles) {
  process.stderr.write(
    `error: only ${allowed} files may be open at once here, and a run needs at least ${fewestFiles}; raise the limit: ulimit -n 4096\n`,
  );
  process.exit(2);
}
const { register } = await import("tsx/esm/api");
register();
const { main } = await import("../src/cli/main.ts");
await main(process.argv.slice(2));
