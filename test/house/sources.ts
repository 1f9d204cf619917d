/** The sources of a checkout as the rules of the house read them: rooms, folders, imports and doors. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

export interface Source {
  /** From the root of the checkout, such as "src/envs/env.ts". */
  readonly path: string;
  readonly room: string;
  readonly text: string;
  readonly isTest: boolean;
}

export interface Import {
  /** "#room", a path from the root, or the name of a package. */
  readonly target: string;
  /** Of the other side; empty where a module is imported whole or for its effects. */
  readonly names: readonly string[];
  /** Loaded when asked for, by `import()`. */
  readonly late: boolean;
}

export function sourcesOf(root: string, folder = "src"): Source[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.m?ts$/.test(file))
    .sort()
    .map((file) => ({
      path: join(folder, file),
      room: file.includes(sep) ? (file.split(sep)[0] ?? "") : "",
      text: readFileSync(join(root, folder, file), "utf8"),
      isTest: file.endsWith(".test.ts"),
    }));
}

const statements = /\b(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+"([^"]+)"/g;
const dynamic = /(?:const\s*(\{[^}]*\})\s*=\s*)?(?:\(?\s*await\s+)?import\(\s*"([^"]+)"\s*\)(?:\)?\.(\w+))?/g;

/** All that a file imports or passes on, types included. */
export function importsOf({ path, text }: Source): Import[] {
  const place = (target: string): string =>
    target.startsWith(".") ? relative(".", resolve(dirname(path), target)) : target;
  const fixed = [...text.matchAll(statements)].map(([, what = "", target = ""]) => ({
    target: place(target),
    names: namesIn(what),
    late: false,
  }));
  const late = [...text.matchAll(dynamic)].map(([, what = "", target = "", member]) => ({
    target: place(target),
    names: member ? [member] : namesIn(what),
    late: true,
  }));
  const effects = [...text.matchAll(/^import\s+"([^"]+)"/gm)].map(([, target = ""]) => ({
    target: place(target),
    names: [],
    late: false,
  }));
  return [...fixed, ...late, ...effects];
}

/** The names on the other side: "a as b" is a. */
const namesIn = (braces: string): string[] =>
  braces.startsWith("{")
    ? braces
        .slice(1, -1)
        .split(",")
        .map((item) =>
          item
            .trim()
            .replace(/^type\s+/, "")
            .split(/\s+as\s+|\s*:\s*/)[0]!
            .trim(),
        )
        .filter(Boolean)
    : [];

/** What a room's door offers, by the name that others use. Lists of names only: `export *` hides what a door offers. */
export function doorNames(sources: readonly Source[], room: string): string[] {
  const door = sources.find(({ path }) => path === join("src", room, "index.ts"))?.text ?? "";
  const lists = [...door.matchAll(/\bexport\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list
      .split(",")
      .map((item) =>
        (
          item
            .trim()
            .split(/\s+as\s+/)
            .at(-1) ?? ""
        ).replace(/^type\s+/, ""),
      )
      .filter(Boolean),
  );
  const own = [...door.matchAll(/^export\s+(?:async\s+)?(?:const|function|class|interface|type)\s+(\w+)/gm)];
  return [...lists, ...own.map(([, name = ""]) => name)];
}

/**
 * Circles of imports inside a room, each as "a -> b -> a". A folder counts as one place; a file of a room's root, which may be its
 * catalogue or the contract that its folders share, counts by itself. Catalogues load late (`import()`), which closes no circle,
 * and files of one folder may know each other.
 */
export function importCircles(sources: readonly Source[], room: string): string[] {
  const root = join("src", room);
  const place = (path: string): string => join(root, relative(root, path).split(sep)[0]!);
  const edges = new Map<string, Set<string>>();
  for (const source of sources.filter((each) => each.room === room && !each.isTest)) {
    const from = place(source.path);
    for (const { target, late } of importsOf(source)) {
      const to = place(target);
      if (late || !target.startsWith(root + sep) || to === from) continue;
      edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  }
  return circles(edges).filter((circle) => circle.split(" -> ").some((each) => !each.endsWith(".ts")));
}

function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found = new Set<string>();
  const walk = (path: readonly string[]): void => {
    for (const next of edges.get(path.at(-1)!) ?? []) {
      const at = path.indexOf(next);
      if (at >= 0) found.add(turned(path.slice(at)));
      else if (path.length < 8) walk([...path, next]);
    }
  };
  for (const start of edges.keys()) walk([start]);
  return [...found].sort();
}

/** One spelling for a circle, wherever a walk entered it. */
function turned(circle: readonly string[]): string {
  const first = circle.indexOf([...circle].sort()[0]!);
  const all = [...circle.slice(first), ...circle.slice(0, first)];
  return [...all, all[0]].join(" -> ");
}

/** Code without comments: what a compiler reads. */
export const codeOf = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
