/** The drawings of docs/drawings are those that their sources make today. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { drawings } from "../scripts/drawings/all.ts";

for (const { file, svg } of drawings()) {
  test(`docs/drawings/${basename(file.pathname)} shows what its source says`, () => {
    const stale = readFileSync(file, "utf8") !== svg;
    assert.ok(!stale, "it is stale: run node --import tsx scripts/draw-house.ts");
  });
}
