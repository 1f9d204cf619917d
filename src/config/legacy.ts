/**
 * Understands older spellings of the same settings, so that a user's existing files run as they are.
 *
 * Works on the resolved tree: old keys may refer to each other freely. Where both spellings are written with different
 * values, the later word counts. Every move leaves a note, and one that decides between two values a warning.
 */
import type { IsLater } from "./later-word.ts";
import { type Move, moves, renamedValues, valueRemarks } from "./legacy-moves.ts";
import { type Problem, problem } from "./problem.ts";
import {
  type ConfigNode,
  fromPlain,
  type MapNode,
  nodeAt,
  type Path,
  type Plain,
  parsePath,
  placeOf,
  plain,
  withValue,
} from "./tree.ts";

/** Old names of preset groups. */
export const groupAliases: Readonly<Record<string, string>> = { training_backend: "hybrid_engines" };

export interface Migration {
  readonly root: MapNode;
  readonly notes: readonly Problem[];
}

export function migrateLegacyKeys(root: MapNode, isLater: IsLater): Migration {
  let current = root;
  const notes: Problem[] = [];
  for (const move of moves) {
    const path = parsePath(move.from);
    const node = nodeAt(current, path);
    if (!node || move.when?.(lookIn(current)) === false) continue;
    const settled = settle(current, move, node, isLater);
    notes.push(
      problem(current, settled.clashes.length > 0 ? "warning" : "note", path, wording(move, settled)),
    );
    current = withValue(settled.root, path, undefined);
  }
  for (const [key, names] of Object.entries(renamedValues)) {
    const path = parsePath(key);
    const node = nodeAt(current, path);
    const name = node?.kind === "scalar" ? names[String(node.value)] : undefined;
    if (!node || name === undefined) continue;
    const remark = valueRemarks[String(plain(node))];
    const what = remark === undefined ? "an old name" : "another name";
    const message = `"${plain(node)}" is ${what}; understood as "${name}"`;
    notes.push(problem(root, "note", path, remark === undefined ? message : `${message}: ${remark}`));
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

/** A tree with the old key's values in their new places, and what they met there. */
interface Settled {
  readonly root: MapNode;
  readonly targets: readonly string[]; // new keys that the old one speaks for
  readonly clashes: readonly string[]; // where another value stood, and which of the two counts
}

function wording(move: Move, { targets, clashes }: Settled): string {
  if (targets.length === 0) return `no longer used (${move.why ?? "it says nothing"})`;
  const what = `${move.called ?? "old name"}; understood as ${targets.join(" and ")}`;
  return [what, ...clashes].join("; ");
}

function settle(root: MapNode, move: Move, node: ConfigNode, isLater: IsLater): Settled {
  let settled: Settled = { root, targets: [], clashes: [] };
  const value = plain(node);
  for (const [target, wanted] of Object.entries(move.to?.(value, lookIn(root)) ?? {})) {
    const path = parsePath(target);
    const absentSection = path[0] === "env" && path[1] === "eval" && !nodeAt(settled.root, ["env", "eval"]);
    if (wanted === undefined || wanted === null || absentSection) continue;
    const laid = wanted === value ? node : fromPlain(wanted, node.origin);
    settled = lay({ ...settled, targets: [...settled.targets, target] }, path, laid, isLater);
  }
  return settled;
}

/** Puts a value in its new place: into free room, key by key into a block, and over another value if it is the later word. */
function lay(settled: Settled, path: Path, node: ConfigNode, isLater: IsLater): Settled {
  const { root, clashes } = settled;
  const parent = nodeAt(root, path.slice(0, -1));
  if (parent !== undefined && parent.kind !== "map") return settled; // the schema says what is wrong there
  const old = nodeAt(root, path);
  if (old?.kind === "map" && node.kind === "map") {
    return [...node.entries].reduce((sum, [key, value]) => lay(sum, [...path, key], value, isLater), settled);
  }
  const free = !old || (old.kind === "scalar" && old.value === null);
  if (free) return { ...settled, root: withValue(root, path, node) };
  const [was, is] = [old, node].map((each) => JSON.stringify(plain(each)));
  if (was === is) return settled;
  const place = `${path.join(".")}: ${was} of ${placeOf(old.origin)}`;
  if (!isLater(node.origin, old.origin))
    return { ...settled, clashes: [...clashes, `but ${place} is the later word and counts`] };
  return { ...settled, root: withValue(root, path, node), clashes: [...clashes, `${is} replaces ${place}`] };
}

function withoutEmptyMaps(root: MapNode, paths: readonly string[]): MapNode {
  return paths.map(parsePath).reduce((tree, path) => {
    const node = nodeAt(tree, path);
    return node?.kind === "map" && node.entries.size === 0 ? withValue(tree, path, undefined) : tree;
  }, root);
}
