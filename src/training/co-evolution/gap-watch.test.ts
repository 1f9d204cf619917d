import assert from "node:assert/strict";
import { test } from "node:test";
import { GapWatch, gapMetrics } from "./gap-watch.ts";

const rules = { enabled: true, threshold: 0.1, patience: 2 };
const found = (dream: number, real: number) => ({
  "eval/success_once": real,
  ...gapMetrics({ "env/success_once": dream }, { "eval/success_once": real }),
});

test("the gap is success in the dream less success in the simulator, where both were measured", () => {
  assert.deepEqual(gapMetrics({ "env/success_once": 0.75 }, { "eval/success_once": 0.5 }), {
    "eval/dream_success": 0.75,
    "eval/dream_gap": 0.25,
  });
  assert.deepEqual(gapMetrics({ "env/success_once": 0.75 }, {}), {});
  assert.deepEqual(gapMetrics({}, { "eval/success_once": 0.5 }), {});
});

test("a run ends when the gap has exceeded its smallest value often enough in a row, and names the best checkpoint", () => {
  const watch = new GapWatch(rules);
  assert.equal(watch.enter(5, found(0.6, 0.4)), undefined);
  assert.equal(watch.enter(10, found(0.6, 0.5)), undefined); // the smallest gap: 0.1
  assert.equal(watch.enter(15, found(0.7, 0.45)), undefined); // once
  const reason = watch.enter(20, found(0.8, 0.4)); // twice
  assert.match(reason ?? "", /from 10\.0 to 40\.0 points.*step 10, with 50\.0 %/);
  assert.ok(watch.isBest(10) && !watch.isBest(20));
});

test("a gap that closes again begins the count anew", () => {
  const watch = new GapWatch(rules);
  for (const [dream, real] of [
    [0.5, 0.5],
    [0.7, 0.5],
    [0.6, 0.55],
    [0.8, 0.5],
  ] as const)
    assert.equal(watch.enter(1, found(dream, real)), undefined);
  assert.equal(watch.state.grown, 1);
});

test("a resumed watch goes on from what it knew", () => {
  const first = new GapWatch(rules);
  first.enter(1, found(0.5, 0.5));
  first.enter(2, found(0.8, 0.5));
  assert.ok(new GapWatch(rules, first.state).enter(3, found(0.8, 0.5)));
  assert.equal(new GapWatch(rules).enter(3, found(0.8, 0.5)), undefined);
});

test("where it is switched off nothing ends and no checkpoint is the best", () => {
  const watch = new GapWatch({ ...rules, enabled: false });
  for (let step = 1; step < 6; step++) assert.equal(watch.enter(step, found(step / 10, 0.1)), undefined);
  assert.equal(watch.isBest(1), false);
});
