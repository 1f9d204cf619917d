/**
 * Reads one YAML file into a tree with places.
 *
 * The YAML library only finds the structure; what an unquoted scalar means is decided by our own rules
 * (scalar-text.ts). Anchors, aliases and merge keys work, within a size limit, so that a small file
 * cannot unfold into a huge tree.
 */
import { readFileSync } from "node:fs";
import { isAlias, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import { UserError } from "#registry";
import { mergeMaps } from "./merge.ts";
import { readScalar } from "./scalar-text.ts";
import { type ConfigNode, type MapNode, map, type Origin } from "./tree.ts";

const mostNodes = 100_000;
const mostDepth = 100;

export interface YamlFile {
  readonly content: MapNode;
  /** From a first-line comment `# @package NAME`: where the file wants to be mounted. */
  readonly package?: string;
}

/** `name` is how the file is called in messages: relative to where the user stands, where possible. */
export function readYamlFile(path: string, name: string): YamlFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new UserError(`cannot read ${name}: ${(error as Error).message}`);
  }
  return parseYaml(text, name);
}

export function parseYaml(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "failsafe",
    lineCounter: lines,
    prettyErrors: false,
    merge: false,
  });
  const [error] = document.errors;
  if (error)
    throw new UserError(`${file}:${lines.linePos(error.pos[0]).line}: not valid YAML: ${error.message}`);

  let nodes = 0;
  const originOf = (node: Node | null): Origin => ({
    file,
    line: node?.range ? lines.linePos(node.range[0]).line : 1,
  });
  const convert = (node: Node | null, depth: number): ConfigNode => {
    const origin = originOf(node);
    if (++nodes > mostNodes || depth > mostDepth) {
      throw new UserError(
        `${file}:${origin.line}: too large when its aliases are unfolded, or nested too deep`,
      );
    }
    if (node === null) return { kind: "scalar", value: null, origin };
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (!target) throw new UserError(`${file}:${origin.line}: unknown alias *${node.source}`);
      return convert(target as Node, depth + 1);
    }
    if (isScalar(node)) return convertScalar(node, origin);
    if (isSeq(node)) {
      return {
        kind: "list",
        items: node.items.map((item) => convert(item as Node | null, depth + 1)),
        origin,
      };
    }
    return convertMap(node as YAMLMap, origin, depth);
  };
  const convertMap = (node: YAMLMap, origin: Origin, depth: number): MapNode => {
    let merged: MapNode = map([], origin);
    const entries = new Map<string, ConfigNode>();
    for (const pair of node.items) {
      const key = pair.key as Node | null;
      if (!isScalar(key)) throw new UserError(`${file}:${originOf(key).line}: a key must be plain text`);
      const value = convert(pair.value as Node | null, depth + 1);
      if (key.value === "<<") merged = mergeKey(value, merged);
      // A value is where its key is: an empty or multi-line value would otherwise point below it.
      else entries.set(String(key.value), { ...value, origin: originOf(key) });
    }
    return mergeMaps(merged, map(entries, origin));
  };

  const root = document.contents as Node | null;
  const content = root === null ? map([], { file, line: 1 }) : convert(root, 0);
  if (content.kind !== "map")
    throw new UserError(`${file}: expected keys with values, found a ${content.kind}`);
  const header = /^\s*#\s*@package\s+(\S+)/m.exec(text.slice(0, 2000))?.[1];
  return header === undefined ? { content } : { content, package: header };
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
