/**
 * The `defaults:` list of a file: which presets it is built from, and where each is mounted.
 *
 * `group/option@package` and `group: option` name the same thing in two spellings; `_self_` marks where the
 * file's own keys are laid on (last, if it is not written).
 */
import { UserError } from "#registry";
import { type ConfigNode, type MapNode, type Origin, placeOf } from "./tree.ts";

export interface DefaultsEntry {
  readonly group: string; // "env" or "env/train"; starts with "/" when counted from the root
  readonly option: string | null; // null: a group without a choice yet
  readonly package?: string; // as written after @
  readonly optional: boolean;
  readonly override: boolean;
  readonly origin: Origin;
}

export type DefaultsItem = "_self_" | DefaultsEntry;

export function readDefaults(file: MapNode): DefaultsItem[] {
  const list = file.entries.get("defaults");
  if (!list) return ["_self_"];
  if (list.kind !== "list") throw new UserError(`${placeOf(list.origin)}: defaults must be a list`);
  const items = list.items.flatMap(readItem);
  return items.includes("_self_") ? items : [...items, "_self_"];
}

function readItem(node: ConfigNode): DefaultsItem[] {
  if (node.kind === "scalar" && typeof node.value === "string") {
    return node.value === "_self_" ? ["_self_"] : [readName(node.value, node.origin)];
  }
  if (node.kind === "map" && node.entries.size === 1) {
    const [[key, value] = ["", node]] = node.entries;
    if (value.kind === "list") return value.items.map((item) => readChoice(key, item, node.origin));
    return [readChoice(key, value, node.origin)];
  }
  throw new UserError(
    `${placeOf(node.origin)}: expected "group/option@package" or "group: option" in defaults`,
  );
}

function readName(text: string, origin: Origin): DefaultsEntry {
  const [id = "", at] = text.split("@");
  const slash = id.lastIndexOf("/");
  return {
    group: id.slice(0, Math.max(slash, 0)),
    option: id.slice(slash + 1),
    ...(at !== undefined && { package: at }),
    optional: false,
    override: false,
    origin,
  };
}

/** One line `group: option`. */
export function readChoice(key: string, value: ConfigNode, origin: Origin): DefaultsEntry {
  const words = key.trim().split(/\s+/);
  const [group = "", at] = (words.pop() ?? "").split("@");
  const stray = words.find((word) => word !== "override" && word !== "optional");
  const option = value.kind === "scalar" ? value.value : undefined;
  if (stray !== undefined || option === undefined || typeof option === "boolean") {
    throw new UserError(`${placeOf(origin)}: "${key}" in defaults: expected group: option`);
  }
  return {
    group,
    option: option === null ? null : String(option).replace(/\.ya?ml$/, ""),
    ...(at !== undefined && { package: at }),
    optional: words.includes("optional"),
    override: words.includes("override"),
    origin,
  };
}
