import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePng } from "#formats";
import { UserError } from "#registry";
import type { EvaluationFile } from "../../training/evaluation/results.ts";
import { successRate } from "../../training/evaluation/statistics.ts";
import { describeImprovement, improvementFile } from "./improvement.ts";
import { drawLearningCurve, ticks } from "./learning-curve.ts";

/** An evaluation of one task whose first `solved` of 100 starts succeed. */
function evaluation(solved: number, episodes = 100): EvaluationFile {
  const trials = Array.from({ length: episodes }, (_, trial) => ({
    task: "reach",
    trial,
    pass: 0,
    success: trial < solved,
    length: 8,
  }));
  return {
    kind: "evaluation",
    config: "quickstart",
    model: "somewhere",
    protocol: { env: "libero", suite: "tabletop_object", seed: 3 },
    ...successRate(solved, episodes),
    tasks: [{ task: "reach", ...successRate(solved, episodes) }],
    trials,
    versions: {},
    seconds: 1,
  };
}

const facts = {
  control: false,
  training: { steps: 5, planned_steps: 30, ended_by: "time", episodes: 640 },
  seconds: 600,
  phases: { before: 50 },
  files: { checkpoint: "c" },
} as const;

const describe = (before: number, after: number) =>
  describeImprovement({ before: evaluation(before), after: evaluation(after) }, undefined, facts);

test("fresh starts have a result and a test of their own, apart from the stored ones", () => {
  const starts = { kind: "fresh", seed: 4, seen_in_training: "no", because: "" };
  const onFresh = (solved: number): EvaluationFile => {
    const file = evaluation(solved);
    return { ...file, protocol: { ...file.protocol, starts } };
  };
  const fresh = { before: onFresh(50), after: onFresh(52) };
  const file = describeImprovement({ before: evaluation(40), after: evaluation(65) }, fresh, facts);
  assert.equal(file.significance.significant, true);
  assert.equal(file.fresh?.seed, 4);
  assert.equal(file.fresh?.significance.significant, false);
  assert.deepEqual([file.fresh?.before.success, file.fresh?.after.success], [0.5, 0.52]);
  assert.deepEqual(improvementFile.parse(JSON.parse(JSON.stringify(file))), file);
});

test("a clear gain is significant, a small one is not, and a loss is not called a gain", () => {
  const clear = describe(40, 65);
  assert.equal(clear.significance.significant, true);
  assert.equal(clear.significance.intervals_overlap, false);
  assert.equal(clear.seed, 3);
  assert.ok(Math.abs(clear.gain - 0.25) < 1e-12);
  const small = describe(40, 44);
  assert.deepEqual([small.significance.gained, small.significance.lost], [4, 0]);
  assert.equal(small.significance.significant, false); // 2 · 2⁻⁴ = 0.125
  assert.equal(small.significance.p, 0.125);
  assert.ok(describe(60, 40).gain < 0);
});

test("only starts that both played count, and none in common is refused", () => {
  const file = describeImprovement({ before: evaluation(40), after: evaluation(30, 50) }, undefined, facts);
  assert.deepEqual([file.before.episodes, file.after.episodes], [50, 50]);
  assert.throws(
    () => describeImprovement({ before: evaluation(40), after: evaluation(0, 0) }, undefined, facts),
    UserError,
  );
});

test("the result file is what its schema says, and refuses a rate without episodes", () => {
  const file = describe(40, 65);
  assert.deepEqual(improvementFile.parse(JSON.parse(JSON.stringify(file))), file);
  const broken = { ...file, after: { ...file.after, episodes: 0 } };
  assert.equal(improvementFile.safeParse(broken).success, false);
});

test("the curve is drawn where the numbers say", async () => {
  const steps = Array.from({ length: 10 }, () => ({ success: 0.5, episodes: 128 }));
  const curve = { title: "a <title>", steps, before: successRate(30, 300), after: successRate(270, 300) };
  const { svg, png } = await drawLearningCurve(curve);
  assert.match(svg, /a &lt;title&gt;/);
  assert.ok(decodePng(png).width > 860);
  const discs = [
    ...svg.matchAll(
      /<path[^>]*roledescription="point"[^>]*translate\(([\d.]+),([\d.]+)\)[^>]*fill="#d55e00"/g,
    ),
  ];
  const [before, after] = discs.map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
  assert.equal(discs.length, 2);
  assert.ok(before!.x < after!.x);
  // The plot is 420 units high: 10 % and 90 % lie 336 apart.
  assert.ok(Math.abs(before!.y - after!.y - 0.8 * 420) < 1e-3);
});

test("fresh starts are drawn beside the stored ones, in a color of their own", async () => {
  const rates = { before: successRate(30, 300), after: successRate(270, 300) };
  const fresh = { before: successRate(15, 150), after: successRate(120, 150) };
  const { svg } = await drawLearningCurve({
    title: "t",
    steps: [{ success: 0.5, episodes: 8 }],
    ...rates,
    fresh,
  });
  const colors = [...svg.matchAll(/<path[^>]*roledescription="point"[^>]*fill="(#\w+)"/g)].map(
    ([, color]) => color,
  );
  assert.equal(colors.filter((color) => color === "#d55e00").length, 2);
  assert.equal(new Set(colors).size, 3);
  assert.match(svg, /fresh starts: 10\.0 % of 150 before, 80\.0 % of 150 after/);
});

test("ticks are round, and never more than eight", () => {
  assert.deepEqual(ticks(1), [1]);
  assert.deepEqual(ticks(30), [5, 10, 15, 20, 25, 30]);
  assert.deepEqual(ticks(7), [1, 2, 3, 4, 5, 6, 7]);
  for (let last = 1; last < 3000; last += 17) assert.ok(ticks(last).length <= 8 && ticks(last).length > 0);
});
