/** The declarations behind the public door, as the compiler writes them: name, comment, text and the file they come from. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export interface Declaration {
  readonly name: string;
  /** As it is written above it; empty where there is none. */
  readonly comment: string;
  readonly text: string;
  /** From the root of the checkout. */
  readonly file: string;
}

export interface Room {
  readonly name: string;
  /** What its door says of it. */
  readonly purpose: string;
  readonly declarations: readonly Declaration[];
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** In the order of `src/index.ts`. */
export function publicRooms(): Room[] {
  const types = mkdtempSync(join(tmpdir(), "reverie-api-"));
  try {
    const project = join(root, "scripts", "types.tsconfig.json");
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    execFileSync(process.execPath, [compiler, "--project", project, "--outDir", types]);
    const door = readFileSync(join(types, "index.d.ts"), "utf8");
    return [...door.matchAll(/export (?:type )?\{([^}]*)\} from "#([\w-]+)"/g)].map(
      ([, list = "", name = ""]) => readRoom(types, name, namesIn(list)),
    );
  } finally {
    rmSync(types, { recursive: true, force: true });
  }
}

const namesIn = (list: string): string[] =>
  list
    .split(",")
    .map((item) => item.trim().replace(/^type\s+/, ""))
    .filter(Boolean);

function readRoom(types: string, name: string, names: readonly string[]): Room {
  const index = join(types, name, "index.d.ts");
  const text = readFileSync(index, "utf8");
  const [, purpose = ""] = /^\/\*\*\s*([\s\S]*?)\s*\*\//.exec(text) ?? [];
  return {
    name,
    purpose: plainComment(purpose),
    declarations: names.map((each) => find(types, index, each)),
  };
}

/** Follows doors and lists of exports to where a name is declared. */
function find(types: string, file: string, name: string): Declaration {
  const text = readFileSync(file, "utf8");
  const found = declarationIn(text, name);
  if (found) return { ...found, name, file: sourceOf(types, file) };
  for (const [, list = "", target = ""] of text.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/g)) {
    if (!namesIn(list).includes(name)) continue;
    const next = target.startsWith("#")
      ? join(types, target.slice(1), "index.ts")
      : join(dirname(file), target);
    return find(types, next.replace(/\.ts$/, ".d.ts"), name);
  }
  throw new Error(`internal: ${sourceOf(types, file)} does not declare ${name}`);
}

const sourceOf = (types: string, file: string): string =>
  join("src", relative(types, file).replace(/\.d\.ts$/, ".ts"));

function declarationIn(text: string, name: string): Pick<Declaration, "comment" | "text"> | undefined {
  const head = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:interface|type|class|function|const) ${name}\\b`,
    "m",
  );
  const start = head.exec(text)?.index;
  if (start === undefined) return undefined;
  const [, comment = ""] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, start)) ?? [];
  return {
    comment: plainComment(comment),
    text: text.slice(start, endOf(text, start)).replace("declare ", ""),
  };
}

/** A body's closing brace, or the semicolon outside of all brackets. */
function endOf(text: string, start: number): number {
  const isBody = /^export (?:declare )?(?:abstract )?(?:interface|class)/.test(text.slice(start));
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const letter = text[i]!;
    if ("([{".includes(letter)) depth += 1;
    if (")]}".includes(letter)) depth -= 1;
    if (depth === 0 && (letter === ";" || (isBody && letter === "}"))) return i + 1;
  }
  return text.length;
}

const plainComment = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
