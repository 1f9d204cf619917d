import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nodeAt, originAt, plain } from "./tree.ts";
import { parseYaml } from "./yaml-file.ts";

test("unquoted scalars follow OmegaConf's rules and quoted ones stay text", () => {
  const { content } = parseYaml(
    "a: yes\nb: 'yes'\nc: 1e-5\nd: 0-7\ne: y\nf: 017\ng: .inf\nh: 4:0\n",
    "x.yaml",
  );
  assert.deepEqual(plain(content), {
    ...{ a: true, b: "yes", c: 1e-5, d: "0-7", e: "y", f: 15 },
    ...{ g: Number.POSITIVE_INFINITY, h: "4:0" },
  });
});

test("every value knows its file and line", () => {
  const { content } = parseYaml("# first\nenv:\n  train:\n    size: 3\n    list:\n      - 1\n", "x.yaml");
  assert.deepEqual(nodeAt(content, ["env", "train", "size"])?.origin, { file: "x.yaml", line: 4 });
  assert.deepEqual(originAt(content, ["env", "train", "nope"]), { file: "x.yaml", line: 3 });
});

test("merge keys and aliases are unfolded", () => {
  const { content } = parseYaml("base: &b {x: 1, y: 2}\none:\n  <<: *b\n  y: 3\ntwo: *b\n", "x.yaml");
  assert.deepEqual(plain(content), { base: { x: 1, y: 2 }, one: { x: 1, y: 3 }, two: { x: 1, y: 2 } });
});

test("bad YAML is refused with its line", () => {
  assert.throws(() => parseYaml("a: 1\nb: [1,\n", "x.yaml"), /^UserError: x\.yaml:\d+: not valid YAML/);
  assert.throws(() => parseYaml("a: 1\na: 2\n", "x.yaml"), /x\.yaml:2: not valid YAML: .*unique/);
  assert.throws(() => parseYaml("- 1\n", "x.yaml"), /expected keys with values/);
});

test("aliases that unfold without end are refused before they fill the memory", () => {
  const lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"];
  for (let i = 1; i < 9; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(", ")}]`,
    );
  assert.throws(() => parseYaml(lines.join("\n"), "x.yaml"), { name: "UserError" });
  assert.throws(() => parseYaml("a: &a [*a]\n", "x.yaml"), { name: "UserError" });
});

test("a file of forty thousand keys or aliases is answered within seconds", { timeout: 20_000 }, () => {
  const keys = Array.from({ length: 40_000 }, (_, i) => `k${i}: ${i}`).join("\n");
  assert.equal(parseYaml(keys, "x.yaml").content.entries.size, 40_000);
  const aliases = `a: &a 1\nb: [${Array(40_000).fill("*a").join(", ")}]\n`;
  assert.equal(parseYaml(aliases, "x.yaml").content.entries.size, 2);
});

test("brackets nested without end are refused, not a stack overflow", () => {
  assert.throws(
    () => parseYaml(`a: ${"[".repeat(100_000)}`, "x.yaml"),
    /UserError: x\.yaml:1: nested too deep/,
  );
});

test("an alias means the last anchor of that name before it", () => {
  const { content } = parseYaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "x.yaml");
  assert.deepEqual(plain(content), { a: 1, b: 1, c: 2, d: 2 });
});

test("any text is either understood or refused with a UserError", () => {
  const pieces = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    "&x",
    "*x",
    "|",
    "<<",
    "#",
    "${",
    "}",
    "?",
    "!t",
    "\t",
    "1",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      try {
        plain(parseYaml(parts.join(""), "x.yaml").content);
      } catch (error) {
        assert.equal((error as Error).name, "UserError", String((error as Error).stack));
      }
    }),
    { numRuns: 3000, seed: 1 },
  );
});
