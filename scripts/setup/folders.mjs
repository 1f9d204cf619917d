/**
 * Where set-up finds and puts things, all relative to the checkout.
 *
 * Set-up runs before any package is installed, so every file in this folder is plain JavaScript that needs
 * nothing but Node.
 */
import { existsSync, readdirSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const deps = join(root, ".deps");
export const venv = join(deps, "venv");
export const build = join(root, "build");
export const native = join(root, "native");
export const nodeModules = join(root, "node_modules");

/** The virtual environment's site-packages, or undefined before it exists. */
export function sitePackages() {
  const lib = join(venv, "lib");
  const python = existsSync(lib) ? readdirSync(lib).find((name) => name.startsWith("python3")) : undefined;
  return python === undefined ? undefined : join(lib, python, "site-packages");
}

/** A path as it is written into flags and stamps: relative when it is in the checkout, so that a moved one stays current. */
export function inCheckout(path) {
  const inside = relative(root, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

/** A folder as an addon in `build/` remembers it: from where the addon itself lies, when both are in the checkout. */
export function runPath(folder) {
  const inside = inCheckout(folder);
  return isAbsolute(inside) ? inside : `$ORIGIN/../${inside}`;
}
