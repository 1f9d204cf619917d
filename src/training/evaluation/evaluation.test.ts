import assert from "node:assert/strict";
import { test } from "node:test";
import { compareEvaluations, comparisonText } from "./compare.ts";
import type { EvaluationFile } from "./results.ts";
import { evaluationTable } from "./results.ts";
import { exactMcNemar, successRate } from "./statistics.ts";

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 5e-5, `${actual} is not ${expected}`);

test("Wilson's interval is that of the books: 8 of 10, 0 of 20, 50 of 50", () => {
  const eight = successRate(8, 10);
  near(eight.low, 0.4902);
  near(eight.high, 0.9433);
  const none = successRate(0, 20);
  assert.equal(none.low, 0);
  near(none.high, 0.1611);
  const all = successRate(50, 50);
  near(all.low, 0.9287);
  assert.equal(all.high, 1);
});

test("without episodes nothing is known", () => {
  const { success, low, high } = successRate(0, 0);
  assert.deepEqual([success, low, high], [Number.NaN, 0, 1]);
});

test("McNemar's exact test: p-values of a fair coin", () => {
  near(exactMcNemar(1, 9), 0.0215);
  near(exactMcNemar(0, 5), 0.0625);
  near(exactMcNemar(10, 10), 1);
  assert.equal(exactMcNemar(0, 0), 1);
  assert.ok(exactMcNemar(0, 400) > 0 && exactMcNemar(0, 400) < 1e-100);
});

function evaluation(outcomes: Readonly<Record<string, readonly boolean[]>>): EvaluationFile {
  const trials = Object.entries(outcomes).flatMap(([task, list]) =>
    list.map((success, trial) => ({ task, trial, pass: 0, success, length: 8 })),
  );
  const rate = successRate(trials.filter(({ success }) => success).length, trials.length);
  return {
    kind: "evaluation",
    config: "c",
    model: "m",
    protocol: { env: "libero", suite: "s" },
    ...rate,
    tasks: [],
    trials,
    versions: {},
    seconds: 1,
  };
}

test("two evaluations are compared start by start, and starts that only one has are left out", () => {
  const before = evaluation({ a: [true, false, false, false], b: [true, true] });
  const after = evaluation({ a: [true, true, true, false], b: [false] });
  const { pairs, unpaired, gained, lost, p, tasks } = compareEvaluations(before, after);
  assert.deepEqual([pairs, unpaired, gained, lost], [5, 1, 2, 1]);
  assert.equal(p, 1);
  assert.deepEqual(
    tasks.map(({ task, before: b, after: a }) => [task, b.success, a.success]),
    [
      ["a", 0.25, 0.75],
      ["b", 1, 0],
    ],
  );
});

test("a clear gain is called so, a small one is not", () => {
  const worse = evaluation({ a: Array(40).fill(false) });
  const better = evaluation({ a: Array.from({ length: 40 }, (_, i) => i < 20) });
  assert.match(comparisonText(compareEvaluations(worse, better)), /\+50\.0 points.*: B is better/);
  const hardly = evaluation({ a: Array.from({ length: 40 }, (_, i) => i < 2) });
  assert.match(comparisonText(compareEvaluations(worse, hardly)), /not significant/);
});

test("evaluations without a common start are refused", () => {
  assert.throws(
    () => compareEvaluations(evaluation({ a: [true] }), evaluation({ b: [true] })),
    /share no start/,
  );
});

test("the table has a line per task and one for all, with intervals", () => {
  const file = { ...evaluation({ a: [true, false] }), tasks: [{ task: "a", ...successRate(1, 2) }] };
  const lines = evaluationTable(file).split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[1]!, /^a +50\.0 % +9\.5 % – 90\.5 % +2$/);
});
