/**
 * The npm packages, exactly as the lockfile says.
 *
 * npm writes node_modules/.package-lock.json as its last act, so comparing it with our lockfile tells a
 * finished, current installation from a missing, outdated or interrupted one without starting npm (0.5 s).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeModules, root } from "./folders.mjs";
import { runProgram } from "./progress.mjs";

export const npmPackages = {
  name: "npm packages from the lockfile",
  mend: "npm ci",

  isDone() {
    if (!existsSync(join(root, "package-lock.json"))) return true; // an installed package: npm brought them
    const installed = readPackages(join(nodeModules, ".package-lock.json"));
    const wanted = readPackages(join(root, "package-lock.json"));
    if (!installed || !wanted) return false;
    return Object.entries(wanted).every(
      ([path, entry]) =>
        path === "" ||
        (installed[path] === undefined && entry.optional === true) || // built for another platform
        (installed[path]?.version === entry.version && existsSync(join(root, path, "package.json"))),
    );
  },

  async run({ detail }) {
    const npm = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    // npm tells the scripts that it runs about itself through npm_* variables; the same npm is used again.
    const script = process.env.npm_execpath;
    const [program, args] = script?.endsWith(".js") ? [process.execPath, [script, ...npm]] : ["npm", npm];
    detail("npm ci");
    await runProgram(program, args, { cwd: root });
    return `${Object.keys(readPackages(join(nodeModules, ".package-lock.json")) ?? {}).length} packages`;
  },
};

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined; // absent, or cut off: not installed
  }
}
