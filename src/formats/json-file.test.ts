import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readJsonFile, writeJsonFile } from "./json-file.ts";

const path = join(mkdtempSync(join(tmpdir(), "reverie-json-")), "config.json");

test("numbers that Python's json writes and JSON does not have are read", () => {
  writeFileSync(path, '{"low": [NaN, -Infinity, 1.5], "high": Infinity, "text": "NaN and \\"Infinity\\""}');
  assert.deepEqual(readJsonFile(path), {
    low: [Number.NaN, -Infinity, 1.5],
    high: Infinity,
    text: 'NaN and "Infinity"',
  });
});

test("a megabyte of quotes that never close is refused in no time", () => {
  writeFileSync(path, `{"a": NaN, "b": "${'\\"'.repeat(500_000)}`);
  const started = performance.now();
  assert.throws(() => readJsonFile(path), /not a readable JSON file/);
  assert.ok(performance.now() - started < 2000);
});

test("what is written reads back", () => {
  writeJsonFile(path, { hidden_size: 4, names: ["a"] });
  assert.deepEqual(readJsonFile(path), { hidden_size: 4, names: ["a"] });
});

test("a file that is no JSON object is refused by name and reason", () => {
  for (const [text, reason] of [
    ["{", /config.json: not a readable JSON file/],
    ["[1]", /not a JSON object/],
  ] as const) {
    writeFileSync(path, text);
    assert.throws(() => readJsonFile(path), reason);
  }
  assert.throws(() => readJsonFile(`${path}.absent`), /no such file/);
});
