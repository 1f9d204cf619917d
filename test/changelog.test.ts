/** CHANGELOG.md keeps the form of https://keepachangelog.com/en/1.1.0/, which merges of several branches can break. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const lines = readFileSync(new URL("../CHANGELOG.md", import.meta.url), "utf8").split("\n");
const versions = lines.filter((line) => line.startsWith("## "));

test("the changelog begins with Unreleased, and every other version has a number and a date", () => {
  const [first, ...rest] = versions;
  assert.equal(first, "## [Unreleased]");
  assert.deepEqual(
    rest.filter((line) => !/^## \[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/.test(line)),
    [],
  );
});

test("the changelog's sections are those of Keep a Changelog, each at most once in a version", () => {
  const allowed = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
  let seen: string[] = [];
  for (const line of lines) {
    if (line.startsWith("## ")) seen = [];
    if (!line.startsWith("### ")) continue;
    const section = line.slice("### ".length);
    assert.ok(allowed.includes(section), `${section} is none of ${allowed.join(", ")}`);
    assert.ok(!seen.includes(section), `${section} is there twice: join them`);
    seen.push(section);
  }
});

test("the changelog says everything once, in lines of at most 120 characters", () => {
  const entries = lines.filter((line) => line.startsWith("- "));
  const twice = entries.filter((entry, i) => entries.indexOf(entry) !== i);
  const long = lines.filter((line) => line.length > 120);
  assert.deepEqual([twice, long], [[], []]);
});
