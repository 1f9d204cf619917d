import assert from "node:assert/strict";
import { test } from "node:test";
import { GapWatch, gapMetrics } from "./gap-watch.ts";

const rules = { enabled: true, threshold: 0.1, patience: 2, episodes: 64 };
/** Of an evaluation: P(dream success | real failure), and success in the simulator. */
const found = (rate: number, real: number) => ({
  "eval/success_once": real,
  "eval/closed_loop_false_positive": rate,
});

test("the gap is success in the dream less success in the simulator, where both were measured", () => {
  assert.deepEqual(gapMetrics({ "env/success_once": 0.75 }, { "eval/success_once": 0.5 }), {
    "eval/dream_success": 0.75,
    "eval/dream_gap": 0.25,
  });
  assert.deepEqual(gapMetrics({ "env/success_once": 0.75 }, {}), {});
  assert.deepEqual(gapMetrics({}, { "eval/success_once": 0.5 }), {});
});

test("a run ends when the rate has exceeded its smallest value often enough in a row, and names the best checkpoint", () => {
  const watch = new GapWatch(rules);
  assert.equal(watch.enter(5, found(0.2, 0.4)), undefined);
  assert.equal(watch.enter(10, found(0.1, 0.5)), undefined); // the smallest
  assert.equal(watch.enter(15, found(0.25, 0.45)), undefined); // once
  const reason = watch.enter(20, found(0.4, 0.4)); // twice
  assert.match(reason ?? "", /real failure\).*from 10\.0 to 40\.0 %.*step 10, with 50\.0 %/);
  assert.ok(watch.isBest(10) && !watch.isBest(20));
});

test("a better policy in the same world does not end the run, though dreams and simulator come apart or meet", () => {
  // P(dream success | real failure) is 0.3 throughout and nothing is missed: the gap is 0.3 × (1 - success).
  const shrinking = new GapWatch(rules);
  for (const real of [0.2, 0.5, 0.9]) {
    const gap = { "eval/dream_gap": 0.3 * (1 - real) };
    assert.equal(shrinking.enter(1, { ...found(0.3, real), ...gap }), undefined);
  }
  const growing = new GapWatch({ ...rules, patience: 1 });
  assert.equal(growing.enter(1, { ...found(0.3, 0.9), "eval/dream_gap": 0.03 }), undefined);
  assert.equal(growing.enter(2, { ...found(0.3, 0.2), "eval/dream_gap": 0.24 }), undefined);
});

test("an evaluation without a single real failure has no rate, and still may be the best", () => {
  const watch = new GapWatch(rules);
  watch.enter(1, found(0.1, 0.5));
  assert.equal(watch.enter(2, { "eval/success_once": 1 }), undefined);
  assert.ok(watch.isBest(2));
  assert.equal(watch.state.smallest, 0.1);
});

test("a checkpoint of earlier versions keeps its best step, but not the smallest gap, which was another number", () => {
  const old = { smallest: -0.2, grown: 1, best: { step: 3, success: 0.6 } };
  const watch = new GapWatch({ ...rules, patience: 1 }, old);
  assert.equal(watch.enter(4, found(0.3, 0.5)), undefined);
  assert.ok(watch.isBest(3));
});

test("a rate that falls again begins the count anew", () => {
  const watch = new GapWatch(rules);
  for (const [rate, real] of [
    [0, 0.5],
    [0.2, 0.5],
    [0.05, 0.55],
    [0.3, 0.5],
  ] as const)
    assert.equal(watch.enter(1, found(rate, real)), undefined);
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
