/**
 * Replaces every `${…}` of a composed tree by what it stands for.
 *
 * `${a.b}` from the root; `${.x}` beside the key itself, `${..x}` one level up, and so on, counted from where a
 * preset was mounted; `${resolver:argument,…}` calls a function. Resolved last, after all overrides, so that
 * a changed value changes everything that refers to it.
 */
import { UserError } from "#registry";
import { resolvers } from "./resolvers.ts";
import { type ConfigNode, child, type MapNode, map, type Path, placeOf, plain, scalar } from "./tree.ts";
import { endOfInterpolation, parseValue, splitOutside } from "./value-grammar.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export function resolveInterpolations(root: MapNode, environment: Environment = process.env): MapNode {
  return new Resolution(root, environment).all();
}

class Resolution {
  readonly #root: MapNode;
  readonly #environment: Environment;
  readonly #done = new Map<string, ConfigNode>();
  readonly #open: string[] = [];

  constructor(root: MapNode, environment: Environment) {
    this.#root = root;
    this.#environment = environment;
  }

  all(): MapNode {
    return this.#resolve(this.#root, []) as MapNode;
  }

  #resolve(node: ConfigNode, path: Path): ConfigNode {
    if (node.kind === "map") {
      return map(
        [...node.entries].map(([key, value]) => [key, this.#resolve(value, [...path, key])] as const),
        node.origin,
      );
    }
    if (node.kind === "list") {
      return { ...node, items: node.items.map((item, i) => this.#resolve(item, [...path, String(i)])) };
    }
    if (typeof node.value !== "string" || !node.value.includes("${")) return node;
    return this.#once(path.join("\0"), path, () => this.#fill(node.value as string, path, node));
  }

  /** Remembers results, and notices a value that needs itself. */
  #once(id: string, path: Path, compute: () => ConfigNode): ConfigNode {
    const known = this.#done.get(id);
    if (known) return known;
    const name = path.join(".");
    if (this.#open.includes(name)) {
      throw new UserError(
        `${[...this.#open, name].join(" → ")}: these settings refer to each other in a circle`,
      );
    }
    this.#open.push(name);
    const result = compute();
    this.#open.pop();
    this.#done.set(id, result);
    return result;
  }

  #fill(text: string, path: Path, source: ConfigNode): ConfigNode {
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
        const value = plain(this.#evaluate(text.slice(i + 2, end - 1), path, source));
        if (value !== null && typeof value === "object") {
          throw this.#error(source, path, text, "a list or a map cannot stand inside text");
        }
        filled += value === null ? "None" : String(value);
        i = end;
      } else filled += text[i++];
    }
    return scalar(filled, source.origin);
  }

  #evaluate(body: string, path: Path, source: ConfigNode): ConfigNode {
    const [, name, argumentText] = /^\s*([A-Za-z_][\w.]*)\s*:([\s\S]*)$/.exec(body) ?? [];
    if (name === undefined || argumentText === undefined) return this.#reference(body, path, source);
    const resolver = resolvers[name];
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
        select: (target) => this.#lookup(target.split(".")),
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
    if (!found) throw this.#error(source, path, body, `there is no ${target.join(".") || "such setting"}`);
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
    return new UserError(`${placeOf(source.origin)}: ${path.join(".")}: ${text}: ${reason}`);
  }
}
