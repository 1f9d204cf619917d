import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { proportion } from "../../world-training/truth/meters.ts";
import { appendRound, cutRounds, type Meters, type Round, roundMetrics } from "./rounds.ts";
import { WorldVersions } from "./world-versions.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-rounds-"));
const meters = (lies: number, dreamt: number): Meters => ({
  falsePositive: proportion(lies, 4),
  falseSuccess: proportion(lies, dreamt),
  missedSuccess: proportion(0, 4),
  agreement: proportion(8 - lies, 8),
  dreamSuccess: proportion(dreamt, 8),
  trueSuccess: proportion(4, 8),
});
const round = (given: Partial<Round>): Round => ({
  step: 12,
  seconds: 1,
  outcome: "refreshed",
  reason: "",
  world: 12,
  before: meters(3, 6),
  after: meters(1, 4),
  ...given,
});

test("the numbers of a round are those of the world that goes on", () => {
  const kept = roundMetrics(round({}));
  assert.deepEqual(
    [kept["world/false_success"], kept["world/false_success_before"], kept["world/gap"]],
    [0.25, 0.5, 0],
  );
  assert.deepEqual(
    [kept["world/false_positive"], kept["world/false_positive_before"], kept["world/missed_success"]],
    [0.25, 0.75, 0],
  );
  const back = roundMetrics(round({ outcome: "rolled back", world: 0 }));
  assert.deepEqual(
    [back["world/false_success"], back["world/rolled_back"], back["world/gap"]],
    [0.5, 1, 0.25],
  );
});

test("without imagined successes there is no share of false ones, and no number for it", () => {
  const none = roundMetrics(round({ outcome: "measured", before: meters(0, 0) }));
  assert.ok(!("world/false_success" in none) && "world/agreement" in none);
});

test("a round that failed says so and has no meters", () => {
  const { before: _, after: __, ...rest } = round({ outcome: "failed", world: 0 });
  assert.deepEqual(roundMetrics(rest), { "world/failed": 1, "world/rolled_back": 0, "world/version": 0 });
});

test("a resumed run forgets later rounds and a line that was never finished", () => {
  const path = join(folder, "deep", "rounds.jsonl");
  for (const step of [12, 24, 36]) appendRound(path, round({ step }));
  appendFileSync(path, '{"step":12,"sec');
  cutRounds(path, 24);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as Round).step),
    [12, 24],
  );
});

test("a run's worlds are copies, one per step that changed it, and a missing one is asked for by name", () => {
  const given = join(folder, "given");
  mkdirSync(given);
  writeFileSync(join(given, "config.json"), "{}");
  writeFileSync(join(given, "train.resume.safetensors"), "left over");
  const versions = new WorldVersions(join(folder, "worlds"));
  versions.begin(given);
  assert.throws(() => readFileSync(join(versions.folder(0), "train.resume.safetensors")), /ENOENT/);
  writeFileSync(join(given, "config.json"), "changed later");
  versions.begin(given); // a second start of the same run
  assert.equal(readFileSync(join(versions.require(0), "config.json"), "utf8"), "{}");
  mkdirSync(versions.candidate);
  versions.adopt(12);
  assert.equal(versions.require(12), versions.folder(12));
  assert.throws(() => versions.require(24), /step_24, which is gone/);
});
