/** Every YAML block of the guides, as printed, over the shipped configuration that it is about. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  canPaste,
  guideFolder,
  ownGuides,
  readWithBlock,
  seedBlocks,
  settingsOf,
  whyAbsent,
} from "./blocks.ts";

const folders = [...new Set([ownGuides, guideFolder()])];

test("all five guides have YAML blocks", () => {
  for (const folder of folders) {
    const guides = seedBlocks(folder).map(({ guide }) => guide);
    assert.deepEqual([...new Set(guides)], ["behavior", "evac", "libero", "opensora", "wan"]);
  }
});

for (const block of folders.flatMap((folder) => seedBlocks(folder))) {
  const first = block.text.split("\n").find((line) => !/^(#|$)/.test(line));
  const name = `${block.guide}:${block.line} "${first}"`;
  for (const manner of canPaste(block) ? (["included", "pasted"] as const) : (["included"] as const)) {
    test(`every setting of ${name}, ${manner}, is obeyed`, async () => {
      const checked = await readWithBlock(block, manner);
      const faults = settingsOf(block).map(([path, value]) => whyAbsent(checked, path, value));
      assert.deepEqual(
        faults.filter((fault) => fault !== undefined),
        [],
      );
    });
  }
}
