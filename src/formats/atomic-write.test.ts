import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { replaceFile } from "./atomic-write.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-atomic-"));

test("a write that fails midway keeps the old file and leaves no other", () => {
  const path = join(folder, "weights");
  replaceFile(path, [Buffer.from("old")]);
  function* interrupted(): Generator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("interrupted");
  }
  assert.throws(() => replaceFile(path, interrupted()), /interrupted/);
  assert.equal(readFileSync(path, "utf8"), "old");
  assert.deepEqual(readdirSync(folder), ["weights"]);
});

test("folders on the way are made, and a place that cannot be written is named", () => {
  replaceFile(join(folder, "a/b/c"), [Buffer.from("x"), Buffer.from("y")]);
  assert.equal(readFileSync(join(folder, "a/b/c"), "utf8"), "xy");
  assert.throws(() => replaceFile(join(folder, "a/b/c/d"), []), /could not write .*a\/b\/c\/d/);
});
