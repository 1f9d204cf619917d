import assert from "node:assert/strict";
import { test } from "node:test";
import { killSoak } from "./kill-soak.ts";

test("a run that is killed at random moments loses at most one step, corrupts nothing and ends as if undisturbed", async () => {
  const { kills, lostSteps } = await killSoak(3);
  assert.equal(kills, 3);
  assert.ok(lostSteps <= 1);
});
