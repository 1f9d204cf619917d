/** The examples in docs/extend: their files written to a folder as they stand on the page, their commands run there. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const docs = fileURLToPath(new URL("../../docs/extend/", import.meta.url));
const bin = fileURLToPath(new URL("../../bin/reverie.mjs", import.meta.url));

/** Every page with an example: all but the first one. */
export const extendPages = (): string[] =>
  readdirSync(docs)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => name.replace(/\.md$/, ""));

export interface PageExample {
  /** File names and their texts. */
  readonly files: ReadonlyMap<string, string>;
  /** Lines of `sh` blocks, without `reverie`. */
  readonly commands: readonly (readonly string[])[];
}

export function readExample(page: string): PageExample {
  const text = readFileSync(join(docs, `${page}.md`), "utf8");
  const named = text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms);
  const shells = text.matchAll(/^```sh\n(.*?)^```$/gms);
  return {
    files: new Map([...named].map(([, name = "", content = ""]) => [name, content])),
    commands: [...shells].flatMap(([, lines = ""]) =>
      lines
        .trim()
        .split("\n")
        .map((line) => line.replace(/^reverie /, "").split(" ")),
    ),
  };
}

/** Answers what each command printed. */
export async function runExample({ files, commands }: PageExample, folder: string): Promise<string[]> {
  for (const [name, text] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const printed: string[] = [];
  for (const words of commands) {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [bin, ...words], {
      cwd: folder,
      timeout: 600_000,
    });
    printed.push(stdout + stderr);
  }
  return printed;
}
