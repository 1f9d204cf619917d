import assert from "node:assert/strict";
import { test } from "node:test";
import { planEvaluations } from "./evaluation-plan.ts";

const quick = { limit: 600, opening: 10, playing: 30, step: 27, report: 20 };

test("evaluations that leave half of the time are played whole, and nothing is said", () => {
  assert.deepEqual(planEvaluations(quick), { share: 1, notes: [] });
  assert.deepEqual(planEvaluations({ ...quick, limit: 0, playing: 1e6 }), { share: 1, notes: [] });
});

test("on a slow machine evaluations are shortened until they and the report take two fifths of the time", () => {
  const slow = { limit: 600, opening: 20, playing: 200, step: 40, report: 20 };
  const { share, notes } = planEvaluations(slow);
  assert.equal(share, 0.45); // 2 · (20 + 0.45 · 200) + 20 = 240
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, /about 7:40 of 10:00 here: they play 45 % of each task's starts; .*--minutes 16$/);
});

test("a time in which nothing can be learned is said, with the least that makes sense", () => {
  const { share, notes } = planEvaluations({ ...quick, limit: 60 });
  assert.equal(share, 0.1);
  assert.match(notes[1]!, /--minutes 1 is too short .* step takes about 27 s; .*: --minutes 4$/);
});
