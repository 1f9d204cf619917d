/** What pages of the documents point at is there: headings behind links, and files that they name by path. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
/** CHANGELOG.md also names what is gone. */
const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...below("docs"), ...below("src")];

/** As GitHub makes them: lower case, no punctuation, hyphens for spaces, -1 … for repetitions. */
function anchors(page: string): Set<string> {
  const prose = readFileSync(page, "utf8").replace(/^```.*?^```/gms, "");
  const found = new Set<string>();
  for (const [, heading = ""] of prose.matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    let unique = slug;
    for (let n = 1; found.has(unique); n++) unique = `${slug}-${n}`;
    found.add(unique);
  }
  return found;
}

test("every link to a heading finds it", () => {
  const faults = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].flatMap(
      ([, file = "", anchor = ""]) => {
        const target = file === "" ? page : resolve(page, "..", file);
        const found = existsSync(target) && anchors(target).has(anchor);
        return found ? [] : [`${page} links to ${file}#${anchor}`];
      },
    ),
  );
  assert.deepEqual(faults, []);
});

test("every path of this repository that a page names exists", () => {
  const path = /`((?:src|test|scripts|native|bench|prove|examples|docs)\/[\w./-]*)`/g;
  const faults = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(path)].flatMap(([, named = ""]) =>
      existsSync(named) ? [] : [`${page} names ${named}`],
    ),
  );
  assert.deepEqual(faults, []);
});
