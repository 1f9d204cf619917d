import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { imaginedHorizon } from "./horizon.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-horizon-"));
const report = (drifts: readonly (number | null)[]): string => {
  const path = join(folder, `${drifts.join("-")}.json`);
  writeFileSync(path, JSON.stringify({ frames: drifts.map((drift, i) => ({ frame: i + 1, drift })) }));
  return path;
};
const growing = report([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);

test("without limits an imagined episode lasts as long as any other", () => {
  assert.equal(imaginedHorizon({ max_episode_steps: 40 }, 8, undefined), 40);
});

test("a number of chunks cuts an episode off, and never makes it longer", () => {
  assert.equal(imaginedHorizon({ max_episode_steps: 40, horizon_chunks: 3 }, 8, undefined), 24);
  assert.equal(imaginedHorizon({ max_episode_steps: 16, horizon_chunks: 3 }, 8, undefined), 16);
});

test("a limit on drift keeps the whole chunks that stay below it, and one at least", () => {
  const chunksOfTwo = (horizon_max_drift: number): number =>
    imaginedHorizon({ max_episode_steps: 40, horizon_max_drift }, 2, growing);
  assert.deepEqual([0.05, 0.45, 0.5, 0.6].map(chunksOfTwo), [2, 4, 4, 6]);
});

test("a world that never drifts so far may imagine as long as it was measured", () => {
  assert.equal(imaginedHorizon({ max_episode_steps: 40, horizon_max_drift: 9 }, 2, growing), 8);
});

test("a limit on drift without a report, or with one that knows no drift, is refused", () => {
  const limits = { max_episode_steps: 40, horizon_max_drift: 1 };
  assert.throws(() => imaginedHorizon(limits, 8, join(folder, "none.json")), /reverie world evaluate/);
  assert.throws(() => imaginedHorizon(limits, 8, undefined), /reverie world evaluate/);
  assert.throws(() => imaginedHorizon(limits, 8, report([null])), /set horizon_chunks/);
});
