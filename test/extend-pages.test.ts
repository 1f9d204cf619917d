/** Every page of docs/extend has a complete example, and its commands work in a folder that holds nothing else. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { extendPages, readExample, runExample } from "./support/extend-page.ts";

test("the example of an environment fits on one screen", () => {
  const lines = readExample("env").files.get("point.ts")?.trimEnd().split("\n").length ?? 0;
  assert.ok(lines > 20 && lines <= 50, `${lines} lines`);
});

for (const page of extendPages()) {
  test(`docs/extend/${page}.md: one file and one configuration train a step`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), `reverie-extend-${page}-`));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const example = readExample(page);
    const code = [...example.files.keys()].filter((name) => name.endsWith(".ts"));
    assert.equal(code.length, 1);
    await runExample(example, folder);
    const steps = readFileSync(join(folder, "run", "metrics.jsonl"), "utf8")
      .trim()
      .split("\n");
    assert.ok(steps.length >= 1);
    assert.ok(existsSync(join(folder, "run", "run.json")));
    assert.match(readFileSync(join(folder, "run", "run.json"), "utf8"), new RegExp(`${code[0]}"`));
  });
}
