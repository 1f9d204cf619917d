/**
 * Where set-up finds and puts things, all relative to the checkout or to the installed package; where its user may not write there, what
 * set-up makes goes to the user's cache (src/registry/set-up-folder.ts finds it).
 *
 * Set-up runs before any package is installed, so every file in this folder is plain JavaScript that needs
 * nothing but Node.
 */
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const cacheOf = ({ version }) =>
  join(process.env.REVERIE_HOME ?? join(homedir(), ".cache", "reverie"), `set-up-${version}`);
/** Where `build/` and `.deps/` are. */
export const place =
  existsSync(join(root, "build")) || isWritable(root)
    ? root
    : cacheOf(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
export const deps = join(place, ".deps");
export const venv = join(deps, "venv");
export const build = join(place, "build");
export const native = join(root, "native");
export const nodeModules = join(root, "node_modules");
/** Node-API's headers: of a package that npm installed among others, they may lie above it. */
export function apiHeaders() {
  const inside = (folder) => join(folder, "node_modules", "node-api-headers", "include");
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder))
    if (!existsSync(inside(root)) && existsSync(inside(folder))) return inside(folder);
  return inside(root);
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The virtual environment's site-packages, or undefined before it exists. */
export function sitePackages() {
  const lib = join(venv, "lib");
  const python = existsSync(lib) ? readdirSync(lib).find((name) => name.startsWith("python3")) : undefined;
  return python === undefined ? undefined : join(lib, python, "site-packages");
}

/** A path as it is written into flags and stamps: relative when it is in the checkout, so that a moved one stays current. */
export function inCheckout(path) {
  if (place !== root) return path;
  const inside = relative(root, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

/** A folder as an addon in `build/` remembers it: from where the addon itself lies, when both are in the checkout. */
export function runPath(folder) {
  const inside = inCheckout(folder);
  return isAbsolute(inside) ? inside : `$ORIGIN/../${inside}`;
}
