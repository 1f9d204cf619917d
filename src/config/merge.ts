/** Lays one configuration over another: maps are joined key by key, everything else is replaced whole. */
import { type ConfigNode, type MapNode, map, type Path } from "./tree.ts";

export function merge(below: ConfigNode, above: ConfigNode): ConfigNode {
  return below.kind === "map" && above.kind === "map" ? mergeMaps(below, above) : above;
}

export function mergeMaps(below: MapNode, above: MapNode): MapNode {
  const entries = new Map(below.entries);
  for (const [key, value] of above.entries) {
    const old = entries.get(key);
    entries.set(key, old ? merge(old, value) : value);
  }
  return { kind: "map", entries, origin: above.origin };
}

/** Hangs a map at a path below an otherwise empty root: how a preset is mounted at its package. */
export function mount(content: MapNode, path: Path): MapNode {
  return path.reduceRight<MapNode>((inner, key) => map([[key, inner]], content.origin), content);
}
