import assert from "node:assert/strict";
import { test } from "node:test";
import { readRun } from "../read-run.ts";
import { filmEpisodes } from "./filmed-episodes.ts";

test("a film keeps every picture of its own start, and the same policy plays the same film twice", async () => {
  const checked = await readRun("quickstart", { overrides: ["env.eval.max_episode_steps=8"] });
  const starts = [
    { task: 0, trial: 0 },
    { task: 5, trial: 3 },
  ];
  const film = async () => await filmEpisodes(checked, { starts, pixels: 32 });
  const [first, again] = [await film(), await film()];
  for (const [slot, { frames }] of first.entries()) {
    const different = new Set(frames.map((picture) => Buffer.from(picture).toString("base64")));
    assert.ok(different.size > 2, `slot ${slot}: ${frames.length} pictures, ${different.size} different`);
    assert.deepEqual(frames, again[slot]?.frames);
  }
  assert.notDeepEqual(first[0]?.frames[0], first[1]?.frames[0]);
});
