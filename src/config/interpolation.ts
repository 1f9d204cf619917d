/**
 * Replaces every `${…}` of a composed tree by what it stands for.
 *
 * `${a.b}` from the root; `${.x}` beside the key itself, `${..x}` one level up, and so on, counted from where a
 * preset was mounted; `${resolver:argument,…}` calls a function. Resolved last, after all overrides, so that
 * a changed value changes everything that refers to it. References can double what they refer to, again and again, and stand
 * inside each other: how long, how deep and how large the result may become is limited.
 */
import { ownEntry, UserError } from "#registry";
import { resolvers } from "./resolvers.ts";
import {
  type ConfigNode,
  child,
  type ListNode,
  type MapNode,
  map,
  type Path,
  placeOf,
  plain,
  scalar,
  shortText,
} from "./tree.ts";
import { Extent, tooLarge } from "./tree-extent.ts";
import { endOfInterpolation, parseValue, splitOutside } from "./value-grammar.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export function resolveInterpolations(root: MapNode, environment: Environment = process.env): MapNode {
  return new Resolution(root, environment).all();
}

const mostNested = 200; // blocks, and references inside or behind each other; honest files have a dozen
const mostText = 1_000_000; // characters that references may make, in all

class Resolution {
  readonly #root: MapNode;
  readonly #environment: Environment;
  readonly #done = new Map<string, ConfigNode>();
  readonly #open: string[] = [];
  readonly #extent = new Extent();
  #nested = 0;
  #text = 0;

  constructor(root: MapNode, environment: Environment) {
    this.#root = root;
    this.#environment = environment;
  }

  all(): MapNode {
    const resolved = this.#resolve(this.#root, []) as MapNode;
    if (this.#extent.exceeds(resolved)) throw new UserError(`${resolved.origin.file}: ${tooLarge}`);
    return resolved;
  }

  #resolve(node: ConfigNode, path: Path): ConfigNode {
    if (node.kind === "scalar") {
      if (typeof node.value !== "string" || !node.value.includes("${")) return node;
      return this.#once(path.join("\0"), path, () => this.#fill(node.value as string, path, node));
    }
    return this.#deeper(node, path, () => this.#resolveInside(node, path));
  }

  /** Nothing here is deeper than the stack; after an error nobody goes on. */
  #deeper(source: ConfigNode, path: Path, compute: () => ConfigNode): ConfigNode {
    if (this.#nested >= mostNested)
      throw new UserError(
        `${placeOf(source.origin)}: ${shortText(path.join("."))}: too many references stand inside each other`,
      );
    this.#nested++;
    const result = compute();
    this.#nested--;
    return result;
  }

  #resolveInside(node: MapNode | ListNode, path: Path): ConfigNode {
    if (node.kind === "map") {
      return map(
        [...node.entries].map(([key, value]) => [key, this.#resolve(value, [...path, key])] as const),
        node.origin,
      );
    }
    return { ...node, items: node.items.map((item, i) => this.#resolve(item, [...path, String(i)])) };
  }

  /** Remembers results, and notices a value that needs itself. */
  #once(id: string, path: Path, compute: () => ConfigNode): ConfigNode {
    const known = this.#done.get(id);
    if (known) return known;
    const name = path.join(".");
    if (this.#open.includes(name)) {
      const circle = [...this.#open.slice(this.#open.indexOf(name)), name];
      throw new UserError(`${circle.join(" → ")}: these settings refer to each other in a circle`);
    }
    this.#open.push(name);
    const result = compute();
    this.#open.pop();
    this.#done.set(id, result);
    return result;
  }

  #fill(text: string, path: Path, source: ConfigNode): ConfigNode {
    return this.#deeper(source, path, () => this.#filled(text, path, source));
  }

  #filled(text: string, path: Path, source: ConfigNode): ConfigNode {
    if (text.startsWith("${") && endOfInterpolation(text, 0) === text.length) {
      return { ...this.#evaluate(text.slice(2, -1), path, source), origin: source.origin };
    }
    let filled = "";
    for (let i = 0; i < text.length; ) {
      if (text.startsWith("\\${", i)) {
        filled += "${";
        i += 3;
      } else if (text.startsWith("${", i)) {
        const end = endOfInterpolation(text, i);
        const node = this.#evaluate(text.slice(i + 2, end - 1), path, source);
        if (node.kind !== "scalar")
          throw this.#error(source, path, text, "a list or a map cannot stand inside text");
        const { value } = node;
        filled += value === null ? "None" : String(value);
        if (this.#text + filled.length > mostText) throw this.#error(source, path, text, tooLarge);
        i = end;
      } else filled += text[i++];
    }
    this.#text += filled.length;
    return scalar(filled, source.origin);
  }

  #evaluate(body: string, path: Path, source: ConfigNode): ConfigNode {
    const [, name, argumentText] = /^\s*([A-Za-z_][\w.]*)\s*:([\s\S]*)$/.exec(body) ?? [];
    if (name === undefined || argumentText === undefined) return this.#reference(body, path, source);
    const resolver = ownEntry(resolvers, name);
    if (!resolver) {
      const known = Object.keys(resolvers).sort().join(", ");
      throw this.#error(source, path, body, `no resolver named "${name}"; there are: ${known}`);
    }
    const args = (argumentText.trim() === "" ? [] : splitOutside(argumentText, ",")).map((part) =>
      this.#argument(part, path, source),
    );
    try {
      return resolver(args, {
        origin: source.origin,
        environment: this.#environment,
        select: (target) => this.#select(target),
      });
    } catch (error) {
      if (error instanceof UserError) throw this.#error(source, path, body, error.message);
      throw error;
    }
  }

  /** References inside an argument are relative to the setting that calls, not to the argument. */
  #argument(text: string, path: Path, source: ConfigNode): ConfigNode {
    const fill = (node: ConfigNode): ConfigNode => {
      if (node.kind === "list") return { ...node, items: node.items.map(fill) };
      if (node.kind === "map") {
        return map(
          [...node.entries].map(([key, value]) => [key, fill(value)] as const),
          node.origin,
        );
      }
      return String(node.value).includes("${") ? this.#fill(String(node.value), path, source) : node;
    };
    return fill(parseValue(text, source.origin));
  }

  #reference(body: string, path: Path, source: ConfigNode): ConfigNode {
    const filled = body.includes("${") ? String(plain(this.#fill(body, path, source))) : body;
    const [, dots = "", rest = ""] = /^\s*(\.*)(.*?)\s*$/.exec(filled) ?? [];
    const steps = rest
      .replace(/\[([^\]]*)\]/g, ".$1")
      .split(".")
      .filter((step) => step !== "");
    if (dots.length > path.length) throw this.#error(source, path, body, "climbs above the root");
    const target = dots ? [...path.slice(0, path.length - dots.length), ...steps] : steps;
    const found = this.#lookup(target);
    if (found && this.#extent.exceeds(found)) throw this.#error(source, path, body, tooLarge);
    if (!found)
      throw this.#error(source, path, body, `there is no ${shortText(target.join(".")) || "such setting"}`);
    return found;
  }

  #select(target: string): ConfigNode | undefined {
    const found = this.#lookup(target.split("."));
    if (found && this.#extent.exceeds(found)) throw new UserError(tooLarge);
    return found;
  }

  /** Walks down, resolving on the way any interpolation that stands for a map. */
  #lookup(target: Path): ConfigNode | undefined {
    let node: ConfigNode | undefined = this.#root;
    const walked: string[] = [];
    for (const step of target) {
      node = child(node, step);
      walked.push(step);
      if (!node) return undefined;
      if (node.kind === "scalar") node = this.#resolve(node, walked);
    }
    const complete = node;
    return complete.kind === "scalar"
      ? complete
      : this.#once(`\0${walked.join("\0")}`, walked, () => this.#resolve(complete, walked));
  }

  #error(source: ConfigNode, path: Path, body: string, reason: string): UserError {
    const text = body.includes("${") ? body : `\${${body}}`;
    return new UserError(`${placeOf(source.origin)}: ${path.join(".")}: ${shortText(text)}: ${reason}`);
  }
}
