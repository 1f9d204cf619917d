/**
 * Understands older spellings of the same settings, so that a user's existing files run as they are.
 *
 * Works on the resolved tree: old keys may refer to each other freely. A value moves to its new place only
 * if nothing is written there, and every move leaves a note.
 */
import { type Move, moves, renamedValues } from "./legacy-moves.ts";
import { type Problem, problem } from "./problem.ts";
import {
  type ConfigNode,
  fromPlain,
  type MapNode,
  nodeAt,
  type Plain,
  parsePath,
  plain,
  withValue,
} from "./tree.ts";

/** Old names of preset groups. */
export const groupAliases: Readonly<Record<string, string>> = { training_backend: "hybrid_engines" };

export interface Migration {
  readonly root: MapNode;
  readonly notes: readonly Problem[];
}

export function migrateLegacyKeys(root: MapNode): Migration {
  let current = root;
  const notes: Problem[] = [];
  for (const move of moves) {
    const path = parsePath(move.from);
    const node = nodeAt(current, path);
    if (!node || move.when?.(lookIn(current)) === false) continue;
    const settled = settle(current, move, node);
    const verb = settled.told
      ? `old name; understood as ${settled.told}`
      : `no longer used (${move.why ?? "it says nothing"})`;
    notes.push(problem(root, "note", path, verb));
    current = withValue(settled.root, path, undefined);
  }
  for (const [key, names] of Object.entries(renamedValues)) {
    const path = parsePath(key);
    const node = nodeAt(current, path);
    const name = node?.kind === "scalar" ? names[String(node.value)] : undefined;
    if (!node || name === undefined) continue;
    notes.push(problem(root, "note", path, `"${plain(node)}" is an old name; understood as "${name}"`));
    current = withValue(current, path, fromPlain(name, node.origin));
  }
  return {
    root: withoutEmptyMaps(current, [
      "trainer.logger",
      "trainer",
      "algorithm.length_params",
      "actor.tokenizer",
    ]),
    notes,
  };
}

const lookIn =
  (root: MapNode) =>
  (path: string): Plain | undefined => {
    const found = nodeAt(root, parsePath(path));
    return found && plain(found);
  };

function settle(root: MapNode, move: Move, node: ConfigNode): { root: MapNode; told: string } {
  if (move.to === undefined) return { root, told: "" };
  const look = lookIn(root);
  let current = root;
  const told: string[] = [];
  for (const [target, value] of Object.entries(move.to(plain(node), look))) {
    const path = parsePath(target);
    const parent = nodeAt(current, path.slice(0, -1));
    if (
      value === undefined ||
      value === null ||
      (path[0] === "env" && path[1] === "eval" && !nodeAt(current, ["env", "eval"]))
    )
      continue;
    const old = nodeAt(current, path);
    const free = !old || (old.kind === "scalar" && old.value === null);
    told.push(free ? target : `${target}, which is already set`);
    if (free && (parent === undefined || parent.kind === "map")) {
      current = withValue(current, path, fromPlain(value, node.origin));
    }
  }
  return { root: current, told: told.join(" and ") };
}

function withoutEmptyMaps(root: MapNode, paths: readonly string[]): MapNode {
  return paths.map(parsePath).reduce((tree, path) => {
    const node = nodeAt(tree, path);
    return node?.kind === "map" && node.entries.size === 0 ? withValue(tree, path, undefined) : tree;
  }, root);
}
