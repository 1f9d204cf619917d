/**
 * `plugins`: files of code that a configuration names, from all of the files that it is made of.
 *
 * Other lists replace each other; these add up, because a preset that brings an environment of its own must not lose it to the run's
 * file. A path is relative to the file that names it, on the command line to where the user stands.
 *
 * Code is read only where a configuration of the user's own names it: one that was fetched, or that lies beside a checkpoint's weights,
 * names none.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { loadPlugins, UserError } from "#registry";
import { type Problem, problem, refuseErrors } from "./problem.ts";
import { type ConfigNode, type MapNode, nodeAt, placeOf, plain, scalar } from "./tree.ts";

export const pluginsKey = "plugins";

/** Those that one file names, with their paths made absolute. */
export function pluginsIn(content: MapNode, file: string): ConfigNode[] {
  const node = content.entries.get(pluginsKey);
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return [];
  if (node.kind !== "list")
    throw new UserError(`${placeOf(node.origin)}: plugins: expected a list of files, [./my-env.ts]`);
  if (node.items.length > 0 && isForeign(file))
    throw new UserError(
      `${placeOf(node.origin)}: plugins are code, and none is read for a configuration that was fetched or that lies in a checkpoint; ` +
        "if you trust it, name each file yourself: --plugin FILE",
    );
  return node.items.map((item) =>
    item.kind === "scalar" && typeof item.value === "string" && !/^\$\{/.test(item.value)
      ? scalar(isAbsolute(item.value) ? item.value : resolve(dirname(file), item.value), item.origin)
      : item,
  );
}

/** In the folder of `reverie fetch`, or beside weights or a dataset's arrays. */
function isForeign(file: string): boolean {
  const folder = realpathSync(dirname(resolve(file)));
  const fetched = process.env.REVERIE_HOME ?? join(homedir(), ".cache", "reverie");
  if (existsSync(fetched) && `${folder}${sep}`.startsWith(`${realpathSync(fetched)}${sep}`)) return true;
  return readdirSync(folder).some((name) => /\.(safetensors|pth|pt|bin|npy|npz|parquet)$/.test(name));
}

export function withPlugins(root: MapNode, plugins: readonly ConfigNode[]): MapNode {
  const [first] = plugins;
  if (!first) return root;
  const seen = new Set<unknown>();
  const items = plugins.filter((item) => {
    const isNew = !seen.has(plain(item));
    seen.add(plain(item));
    return isNew;
  });
  const list: ConfigNode = { kind: "list", items, origin: first.origin };
  return { ...root, entries: new Map([...root.entries, [pluginsKey, list]]) };
}

/** Reads them before anything is looked up that they may bring; what is wrong with one is said with its place. */
export async function readPlugins(root: MapNode, what: string): Promise<void> {
  const list = nodeAt(root, [pluginsKey]);
  if (list?.kind !== "list") return; // the frame will say what is wrong with others
  const problems: Problem[] = [];
  for (const [index, item] of list.items.entries()) {
    if (item.kind !== "scalar" || typeof item.value !== "string") continue;
    try {
      await loadPlugins([item.value]);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push(problem(root, "error", [pluginsKey, String(index)], error.message));
    }
  }
  refuseErrors(problems, what);
}
