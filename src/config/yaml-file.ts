/**
 * Reads one YAML file into a tree with places.
 *
 * The YAML library only finds the structure; what an unquoted scalar means is decided by our own rules
 * (scalar-text.ts). Anchors, aliases and merge keys work. A file may be hostile: its size, its depth and what
 * its aliases unfold to are limited, and no step takes longer than in proportion to the file.
 */
import { readFileSync, statSync } from "node:fs";
import { isAlias, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { UserError } from "#registry";
import { mergeMaps } from "./merge.ts";
import { readScalar } from "./scalar-text.ts";
import { type ConfigNode, type MapNode, map, type Origin, shortText } from "./tree.ts";
import { mostDepth, mostNodes } from "./tree-extent.ts";

const mostBytes = 1_000_000; // a hundred times the largest file that ships

export interface YamlFile {
  readonly content: MapNode;
  /** From a first-line comment `# @package NAME`: where the file wants to be mounted. */
  readonly package?: string;
}

/** `name` is how the file is called in messages: relative to where the user stands, where possible. */
export function readYamlFile(path: string, name: string): YamlFile {
  let text: string;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error("it is not a plain file"); // a pipe would keep us waiting
    const { size } = stats;
    if (size > mostBytes)
      throw new Error(
        `it has ${(size / 1e6).toFixed(1)} MB; a configuration has at most ${mostBytes / 1e6} MB`,
      );
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new UserError(`cannot read ${name}: ${(error as Error).message}`);
  }
  return parseYaml(text, name);
}

export function parseYaml(text: string, file: string): YamlFile {
  if (text.includes("\0")) throw new UserError(`${file}: not a text file: it holds zero bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "failsafe",
    lineCounter: lines,
    prettyErrors: false,
    merge: false,
    uniqueKeys: false, // we check it: the library compares every key with every other
  });
  const [error] = document.errors;
  if (error) {
    const line = lines.linePos(error.pos[0]).line;
    if (/call stack/.test(error.message)) throw new UserError(`${file}:${line}: nested too deep`);
    throw new UserError(`${file}:${line}: not valid YAML: ${error.message}`);
  }
  const root = document.contents as Node | null;
  const content = root === null ? map([], { file, line: 1 }) : new TreeBuilder(file, lines).build(root, 0);
  if (content.kind !== "map")
    throw new UserError(`${file}: expected keys with values, found a ${content.kind}`);
  const header = /^\s*#\s*@package\s+(\S+)/m.exec(text.slice(0, 2000))?.[1];
  return header === undefined ? { content } : { content, package: header };
}

/** Turns the library's nodes into ours, in the order of the file: an alias means the last such anchor before it. */
class TreeBuilder {
  readonly #file: string;
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, { node: ConfigNode; size: number }>();
  #size = 0; // of the tree so far, aliases unfolded

  constructor(file: string, lines: LineCounter) {
    this.#file = file;
    this.#lines = lines;
  }

  build(node: Node | null, depth: number): ConfigNode {
    const before = this.#size;
    this.#grow(1, node, depth);
    const built = this.#convert(node, depth);
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor) this.#anchors.set(anchor, { node: built, size: this.#size - before });
    return built;
  }

  #convert(node: Node | null, depth: number): ConfigNode {
    const origin = this.#originOf(node);
    if (node === null) return { kind: "scalar", value: null, origin };
    if (isAlias(node)) return this.#unfold(node.source, node);
    if (isScalar(node)) return convertScalar(node, origin);
    if (!isSeq(node)) return this.#convertMap(node as YAMLMap, origin, depth);
    const items = node.items.map((item) => this.build(item as Node | null, depth + 1));
    return { kind: "list", items, origin };
  }

  #unfold(name: string, alias: Node): ConfigNode {
    const found = this.#anchors.get(name);
    if (!found) throw this.#error(alias, `unknown alias *${shortText(name)}`);
    this.#grow(found.size, alias, 0);
    return found.node;
  }

  #convertMap(node: YAMLMap, origin: Origin, depth: number): MapNode {
    let merged: MapNode = map([], origin);
    const entries = new Map<string, ConfigNode>();
    for (const pair of node.items) {
      const key = pair.key as Node | null;
      if (!isScalar(key)) throw this.#error(key, "a key must be plain text");
      const value = this.build(pair.value as Node | null, depth + 1);
      const name = String(key.value);
      if (name === "<<") merged = mergeKey(value, merged);
      else if (entries.has(name))
        throw this.#error(key, `not valid YAML: keys must be unique, found ${shortText(name)} twice`);
      // A value is where its key is: an empty or multi-line value would otherwise point below it.
      else entries.set(name, { ...value, origin: this.#originOf(key) });
    }
    return mergeMaps(merged, map(entries, origin));
  }

  #grow(nodes: number, at: Node | null, depth: number): void {
    this.#size += nodes;
    if (this.#size > mostNodes || depth > mostDepth)
      throw this.#error(at, "too large when its aliases are unfolded, or nested too deep");
  }

  #originOf(node: Node | null): Origin {
    return { file: this.#file, line: node?.range ? this.#lines.linePos(node.range[0]).line : 1 };
  }

  #error(node: Node | null, message: string): UserError {
    return new UserError(`${this.#file}:${this.#originOf(node).line}: ${message}`);
  }
}

/** `<<: *one` or `<<: [*one, *two]`; the earlier of several wins. */
function mergeKey(value: ConfigNode, below: MapNode): MapNode {
  const parts = value.kind === "list" ? value.items : [value];
  return [...parts].reverse().reduce<MapNode>((merged, part) => {
    if (part.kind !== "map") throw new UserError(`${part.origin.file}:${part.origin.line}: << needs a map`);
    return mergeMaps(merged, part);
  }, below);
}

function convertScalar(
  node: { value: unknown; type?: string | null | undefined },
  origin: Origin,
): ConfigNode {
  const text = String(node.value ?? "");
  const quoted = node.type !== "PLAIN" && node.type !== undefined && node.type !== null;
  return quoted
    ? { kind: "scalar", value: text, origin, quoted }
    : { kind: "scalar", value: readScalar(text), origin };
}
