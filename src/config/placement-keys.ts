/**
 * Brings `component_placement` to one component per key, so that the command line can move a single
 * component.
 */
import type { IsLater } from "./later-word.ts";
import { type ConfigNode, commandLine, type MapNode, map, nodeAt, withValue } from "./tree.ts";

/**
 * `actor,env,rollout: all` becomes three keys. A component that a later file or the command line names again
 * leaves its old place; named twice in one file it stays twice, and is refused later.
 */
export function joinPlacementKeys(root: MapNode, isLater: IsLater): MapNode {
  const path = ["cluster", "component_placement"];
  const node = nodeAt(root, path);
  if (node?.kind !== "map") return root;
  const placed = new Map<string, ConfigNode>();
  for (const [names, spec] of node.entries) {
    for (const name of names.split(",").map((each) => each.trim())) {
      const other = placed.get(name)?.origin;
      const twice = other?.file === spec.origin.file && spec.origin.file !== commandLine.file;
      // Keys that several files spell alike stand where the first of them put it, whoever wrote the value.
      if (other && !twice && isLater(other, spec.origin)) continue;
      placed.set(twice ? `${name}, ${name}` : name, spec);
    }
  }
  return withValue(root, path, map(placed, node.origin));
}
