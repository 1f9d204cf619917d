/**
 * Finds single values where the frame wants a block of settings: `actor=3`, `env: libero`.
 *
 * Looked for before interpolations are resolved: they would only find that something inside the block is gone.
 */
import { runFrame } from "./frame/index.ts";
import { type Problem, problem } from "./problem.ts";
import { shapeOf } from "./schema-keys.ts";
import { type ConfigNode, type MapNode, type Path, plain, shortText, valueText } from "./tree.ts";

export function misplacedValues(root: MapNode): Problem[] {
  const inside = (node: ConfigNode | undefined, schema: unknown, path: Path): Problem[] => {
    const shape = shapeOf(schema);
    if (!node || !shape) return [];
    if (node.kind === "map")
      return Object.keys(shape).flatMap((key) => inside(node.entries.get(key), shape[key], [...path, key]));
    if (node.kind === "scalar" && (node.value === null || String(node.value).includes("${"))) return [];
    const message = `expected a block of settings (${listOf(Object.keys(shape))}), found ${shortText(valueText(plain(node)))}`;
    return [problem(root, "error", path, message)];
  };
  return inside(root, runFrame, []);
}

const listOf = (names: readonly string[]): string =>
  names.length > 4 ? `${names.slice(0, 4).join(", ")}, …` : names.join(", ");
