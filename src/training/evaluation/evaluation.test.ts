import assert from "node:assert/strict";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertClose } from "../../../test/support/close.ts";
import { tinyCheckpoint, tinyOverrides } from "../../../test/support/tiny-run.ts";
import { evaluateOnly } from "../evaluate-only.ts";
import { readRun } from "../read-run.ts";
import { silent } from "../reporter.ts";
import { Run } from "../run.ts";
import { compareEvaluations, comparisonText } from "./compare.ts";
import { describeEvaluation, type EvaluationFile, evaluationTable } from "./results.ts";
import { exactMcNemar, pairedDifference, successRate } from "./statistics.ts";

test("Wilson's interval is that of the books: 8 of 10, 0 of 20, 50 of 50", () => {
  const eight = successRate(8, 10);
  assertClose(eight.low, 0.4902, 5e-5);
  assertClose(eight.high, 0.9433, 5e-5);
  const none = successRate(0, 20);
  assert.equal(none.low, 0);
  assertClose(none.high, 0.1611, 5e-5);
  const all = successRate(50, 50);
  assertClose(all.low, 0.9287, 5e-5);
  assert.equal(all.high, 1);
});

test("without episodes nothing is known", () => {
  const { success, low, high } = successRate(0, 0);
  assert.deepEqual([success, low, high], [Number.NaN, 0, 1]);
});

test("Newcombe's interval of a paired difference: narrower the more the same starts are solved", () => {
  // With no correlation it joins Wilson's intervals of 5 of 10 and 8 of 10: 0.2366–0.7634 and 0.4902–0.9433.
  const apart = pairedDifference({ both: 4, gained: 4, lost: 1, neither: 1 });
  assertClose(apart.change, 0.3, 5e-5);
  assertClose(apart.low, 0.3 - Math.hypot(0.8 - 0.4902, 0.7634 - 0.5), 5e-5);
  assertClose(apart.high, 0.3 + Math.hypot(0.5 - 0.2366, 0.9433 - 0.8), 5e-5);
  const together = pairedDifference({ both: 40, gained: 30, lost: 0, neither: 30 });
  const opposed = pairedDifference({ both: 10, gained: 60, lost: 30, neither: 0 });
  assertClose(together.change, opposed.change, 5e-5);
  assert.ok(together.low > opposed.low && together.high < opposed.high);
  assert.deepEqual(pairedDifference({ both: 5, gained: 0, lost: 0, neither: 5 }).change, 0);
});

test("McNemar's exact test: p-values of a fair coin", () => {
  assertClose(exactMcNemar(1, 9), 0.0215, 5e-5);
  assertClose(exactMcNemar(0, 5), 0.0625, 5e-5);
  assertClose(exactMcNemar(10, 10), 1, 5e-5);
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

test("evaluations on fresh and on stored starts, or on fresh ones of two seeds, are not compared", () => {
  const on = (starts: object): EvaluationFile => {
    const file = evaluation({ a: [true] });
    return {
      ...file,
      protocol: { ...file.protocol, starts: { seen_in_training: "no", because: "", ...starts } },
    };
  };
  const [zero, one] = [on({ kind: "fresh", seed: 0 }), on({ kind: "fresh", seed: 1 })];
  assert.throws(
    () => compareEvaluations(evaluation({ a: [true] }), zero),
    /on stored starts and the other on fresh starts 0/,
  );
  assert.throws(() => compareEvaluations(zero, one), /fresh starts 0 and the other on fresh starts 1/);
  assert.equal(compareEvaluations(zero, zero).pairs, 1);
  assert.equal(compareEvaluations(evaluation({ a: [true] }), on({ kind: "stored", seed: null })).pairs, 1);
});

test("the table has a line per task and one for all, with intervals", () => {
  const file = { ...evaluation({ a: [true, false] }), tasks: [{ task: "a", ...successRate(1, 2) }] };
  const lines = evaluationTable(file).split("\n");
  assert.equal(lines.length, 3);
  assert.match(lines[1]!, /^a +50\.0 % +9\.5 % – 90\.5 % +2$/);
});

const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
async function evaluated(...overrides: string[]) {
  const logs = mkdtempSync(join(tmpdir(), "reverie-eval-"));
  const tiny = tinyOverrides({ model, logs });
  const checked = await readRun("tabletop_spatial_grpo_openvlaoft_mini", {
    overrides: [...tiny, "runner.only_eval=True", "env.eval.task_id_filter=[1]", ...overrides],
  });
  return describeEvaluation(checked, await evaluateOnly(checked, silent));
}

test("prompts that are too long are refused before an env is started, with the whole key and the length it needs", async () => {
  const logs = mkdtempSync(join(tmpdir(), "reverie-eval-"));
  const overrides = [...tinyOverrides({ model, logs }), "actor.model.max_prompt_length=8"];
  const checked = await readRun("tabletop_spatial_grpo_openvlaoft_mini", { overrides });
  const told: string[] = [];
  const reporter = { ...silent, doing: (phase: string) => told.push(phase) };
  const message =
    /the prompt of "[a-z ]+" has (\d+) tokens and actor\.model\.max_prompt_length is 8; set actor\.model\.max_prompt_length=\1 or more/;
  await assert.rejects(evaluateOnly(checked, reporter), message);
  await assert.rejects(Run.open(checked, reporter), message);
  assert.deepEqual(told, ["load_policy", "load_policy"]);
});

test("an evaluation plays every start once", async () => {
  const few = await evaluated();
  assert.deepEqual(
    few.trials.map(({ trial }) => trial),
    Array.from({ length: 50 }, (_, trial) => trial),
  );
});

test("an evaluation plays as many fresh starts of each task as asked for, once each, and says so", async () => {
  const { trials, protocol } = await evaluated("env.eval.starts=fresh:1", "env.eval.starts_per_task=3");
  assert.deepEqual(
    trials.map(({ trial }) => trial),
    [0, 1, 2],
  );
  const { kind, seed, seen_in_training: seen } = protocol.starts as Record<string, unknown>;
  assert.deepEqual([kind, seed, seen], ["fresh", 1, "no"]);
});

test("a shortened evaluation plays the first starts of every task, also when it is shortened while it runs", async () => {
  const logs = mkdtempSync(join(tmpdir(), "reverie-eval-"));
  const overrides = [
    ...tinyOverrides({ model, logs }),
    "env.eval.task_id_filter=[1,3]",
    "env.eval.total_num_envs=20",
  ];
  for (const autoReset of ["True", "False"]) {
    const checked = await readRun("tabletop_spatial_grpo_openvlaoft_mini", {
      overrides: [...overrides, "runner.only_eval=True", `env.eval.auto_reset=${autoReset}`],
    });
    const part = { share: 1 };
    const reporter = {
      ...silent,
      doing(_phase: string, done = 0, total = 0) {
        assert.ok(done <= total);
        if (done >= 30) part.share = 0.4; // of 50 starts each; the 20 first ones
      },
    };
    const { episodes, share } = await evaluateOnly(checked, reporter, part);
    assert.equal(share, 0.4);
    const first20 = Array.from({ length: 20 }, (_, trial) => trial);
    for (const task of new Set(episodes.map((episode) => episode.task)))
      assert.deepEqual(
        episodes.flatMap((one) => (one.task === task ? [one.trial] : [])),
        first20,
      );
    assert.equal(episodes.length, 40);
  }
});

/** The shipped policy, which solves some starts and not others: what differs would show. */
const shipped = fileURLToPath(new URL("../../../checkpoints/openvla-oft-mini", import.meta.url));
const real = [
  `actor.model.model_path=${shipped}`,
  ...["max_episode_steps", "max_steps_per_rollout_epoch"].map((key) => `env.eval.${key}=40`),
  ...["camera_heights", "camera_widths"].map((key) => `env.eval.init_params.${key}=64`),
  "env.eval.ignore_terminations=False",
];

test("how each episode goes does not depend on how many envs and stages play, nor on whether they reset themselves", {
  skip: existsSync(shipped) ? false : "the embedded policy is not in this checkout",
}, async () => {
  const { trials } = await evaluated(...real, "env.eval.total_num_envs=25");
  assert.ok(new Set(trials.map(({ success, length }) => `${success} ${length}`)).size > 2, "episodes differ");
  const staged = await evaluated(...real, "env.eval.total_num_envs=12", "rollout.pipeline_stage_num=2");
  assert.deepEqual(staged.trials, trials);
  const waiting = await evaluated(...real, "env.eval.total_num_envs=50", "env.eval.auto_reset=False");
  assert.deepEqual(waiting.trials, trials);
});

test("rollout epochs beyond the starts become more passes, with other draws", async () => {
  const { trials, protocol } = await evaluated("env.eval.total_num_envs=50", "env.eval.rollout_epoch=2");
  assert.equal(protocol.passes, 2);
  assert.equal(trials.length, 100);
});
