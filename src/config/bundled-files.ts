/**
 * What comes with the program (`checkpoints/…`) is found wherever the program is run: a configuration names it by a path that is
 * relative to the user's folder, and there it is only in a checkout.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ConfigNode, type MapNode, map, scalar } from "./tree.ts";

const home = fileURLToPath(new URL("../../", import.meta.url));

/** The same tree with such paths made absolute, unless the user has a file of that name. */
export function withBundledFiles(root: MapNode): MapNode {
  return map(
    [...root.entries].map(([key, node]) => [key, found(node)] as const),
    root.origin,
  );
}

function found(node: ConfigNode): ConfigNode {
  if (node.kind === "map") return withBundledFiles(node);
  if (node.kind === "list") return { ...node, items: node.items.map(found) };
  const { value, origin } = node;
  if (typeof value !== "string" || !value.startsWith("checkpoints/") || existsSync(value)) return node;
  return existsSync(home + value) ? scalar(home + value, origin) : node;
}
