/**
 * A configuration as a tree that remembers where each value was written.
 *
 * Every error about a setting can then name its file and line, however many files and overrides
 * it came through. Trees are never changed in place: each step of the composition makes a new one.
 */

/**
 * Where a value was written. `line` counts from 1; 0 means a place without lines (the command line, a rule of
 * ours).
 */
export interface Origin {
  readonly file: string;
  readonly line: number;
}

export type Scalar = null | boolean | number | string;
export type Plain = Scalar | readonly Plain[] | { readonly [key: string]: Plain };

export interface ScalarNode {
  readonly kind: "scalar";
  readonly value: Scalar;
  readonly origin: Origin;
  /** True for text that was quoted in its file: it is text even if it reads like a number. */
  readonly quoted?: boolean;
}

export interface ListNode {
  readonly kind: "list";
  readonly items: readonly ConfigNode[];
  readonly origin: Origin;
}

export interface MapNode {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, ConfigNode>;
  readonly origin: Origin;
}

export type ConfigNode = ScalarNode | ListNode | MapNode;
export type Path = readonly string[];

export const commandLine: Origin = { file: "command line", line: 0 };

export function scalar(value: Scalar, origin: Origin): ScalarNode {
  return { kind: "scalar", value, origin };
}

export function map(entries: Iterable<readonly [string, ConfigNode]>, origin: Origin): MapNode {
  return { kind: "map", entries: new Map(entries), origin };
}

/** "examples/x.yaml:12", or just the place when it has no lines. */
export function placeOf(origin: Origin): string {
  return origin.line > 0 ? `${origin.file}:${origin.line}` : origin.file;
}

/** "env.train.group_size" as a path. Keys that hold dots cannot be addressed this way, as in Hydra. */
export function parsePath(text: string): string[] {
  return text === "" ? [] : text.split(".");
}

export function child(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  if (node?.kind === "map") return node.entries.get(key);
  if (node?.kind === "list" && /^\d+$/.test(key)) return node.items[Number(key)];
  return undefined;
}

export function nodeAt(root: ConfigNode, path: Path): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>((node, key) => child(node, key), root);
}

/** The nearest place that is known for a path: its own, or that of the closest parent that exists. */
export function originAt(root: ConfigNode, path: Path): Origin {
  let node: ConfigNode = root;
  for (const key of path) {
    const next = child(node, key);
    if (!next) break;
    node = next;
  }
  return node.origin;
}

/** Puts `value` at `path`, making maps on the way; with `undefined` it takes the entry away. */
export function withValue(root: MapNode, path: Path, value: ConfigNode | undefined): MapNode {
  const [key, ...rest] = path;
  if (key === undefined) {
    if (value?.kind !== "map") throw new Error("internal: the root of a configuration is a map");
    return value;
  }
  const entries = new Map(root.entries);
  const old = entries.get(key);
  if (rest.length > 0) {
    const inner = old?.kind === "map" ? old : map([], value?.origin ?? root.origin);
    entries.set(key, withValue(inner, rest, value));
  } else if (value) {
    entries.set(key, value);
  } else {
    entries.delete(key);
  }
  return { ...root, entries };
}

export function plain(node: ConfigNode): Plain {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(plain);
    case "map":
      return Object.fromEntries([...node.entries].map(([key, value]) => [key, plain(value)]));
    default:
      return node satisfies never;
  }
}

/** Enough of a text to recognize it by: whatever a file holds, a message stays readable. */
export const shortText = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

/** A value for a message: as JSON, which has no word for NaN and infinity. */
export function valueText(value: Plain): string {
  if (typeof value === "number") return String(value);
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "number" && !Number.isFinite(inner) ? String(inner) : inner,
  );
}

export function fromPlain(value: Plain, origin: Origin): ConfigNode {
  if (Array.isArray(value)) {
    return { kind: "list", items: value.map((item: Plain) => fromPlain(item, origin)), origin };
  }
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).map(([key, inner]) => [key, fromPlain(inner, origin)] as const);
    return map(entries, origin);
  }
  return scalar(value as Scalar, origin);
}
