#!/usr/bin/env node
/**
 * The `reverie` command: starts the TypeScript command line in this very process.
 *
 * tsx turns TypeScript into JavaScript as it is loaded, so there is no build step and no second process. A package that npm installed
 * sets itself up on its first use; a checkout is set up by `npm start` and `npm test`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const isInstalled = !existsSync(join(root, "package-lock.json"));
const words = process.argv.slice(2);

/** What is answered without the addons. */
const needsNothing = (word) =>
  ["help", "version", "completion", "--help", "-h", "--version", undefined].includes(word);

if (!isInstalled && !existsSync(join(root, "node_modules", "tsx", "package.json"))) {
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
if (isInstalled && !needsNothing(words[0])) await setUpOnce();

const { register } = await import("tsx/esm/api");
register();
const { main } = await import("../src/cli/main.ts");
await main(words);

/** Fetches libtorch and MuJoCo and compiles the addons, where that has not been done yet; says so, since it takes a minute or more. */
async function setUpOnce() {
  const { build } = await import("../scripts/setup/folders.mjs");
  if (["torch.node", "mujoco.node"].every((name) => existsSync(join(build, name)))) return;
  process.stderr.write(`reverie is used for the first time: setting up in ${join(build, "..")}, once\n`);
  const { status } = spawnSync(process.execPath, [join(root, "scripts", "setup.mjs")], {
    stdio: ["ignore", 2, 2], // what a command prints stays apart
  });
  if (status !== 0) process.exit(status ?? 1);
}
