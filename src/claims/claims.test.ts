/** From outcomes to tables and verdicts, on results small enough to be worked out by hand. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { drawClaimCurves } from "./claim-curves.ts";
import { gatherRun } from "./claim-folder.ts";
import {
  type ClaimResults,
  readClaimResults,
  requireSameProtocol,
  writeClaimResults,
} from "./claim-results.ts";
import { claimText } from "./claim-text.ts";
import { packOutcomes, unpackOutcomes } from "./outcomes.ts";
import { verdictOf } from "./verdict.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-claims-"));
after(() => rmSync(folder, { recursive: true }));

/** One arm, evaluated on starts 0, 1, … of one task. */
function arm(
  name: string,
  kind: string,
  seed: number | null,
  outcomes: string,
): ClaimResults["arms"][number] {
  const success = [...outcomes].filter((each) => each === "1").length / outcomes.length;
  const evaluation = {
    ...{
      name: "fresh",
      starts: "fresh starts 0",
      sampling: "sample",
      seed: 7,
      seconds: 1,
      success,
      low: 0,
      high: 1,
    },
    episodes: [{ task: "lift", pass: 0, trials: `0-${outcomes.length - 1}`, outcomes }],
    versions: { reverie: "0.1.0" },
  };
  return { name, kind, seed, curve: seed === null ? [] : [0.25, 0.5], rounds: [], evaluations: [evaluation] };
}

const results = (goal: ClaimResults["claim"]["goal"], ...arms: ClaimResults["arms"]): ClaimResults => ({
  kind: "claim",
  format: 1,
  claim: {
    ...{ name: "mine", question: "Is it so?", config: "quickstart", overrides: [], evaluations: ["fresh"] },
    ...(goal && { goal }),
    plot_title: "Success",
  },
  arms: [arm("base", "base", null, "1100"), ...arms],
});

test("outcomes that were packed are found again, start by start", () => {
  const trials = [3, 0, 1, 7].map((trial, i) => ({ task: "lift", pass: 0, trial, success: i < 2 }));
  const packed = packOutcomes([...trials, { task: "lift", pass: 1, trial: 3, success: true }]);
  assert.deepEqual(packed, [
    { task: "lift", pass: 0, trials: "0-1,3,7", outcomes: "1010" },
    { task: "lift", pass: 1, trials: "3", outcomes: "1" },
  ]);
  assert.deepEqual(
    unpackOutcomes(packed)
      .filter(({ success }) => success)
      .map(({ pass, trial }) => [pass, trial]),
    [
      [0, 0],
      [0, 3],
      [1, 3],
    ],
  );
});

test("outcomes that do not fit their starts are refused", () => {
  const one = { task: "lift", pass: 0, trials: "0-2", outcomes: "10" };
  assert.throws(() => unpackOutcomes([one]), /3 starts \(0-2\) and 2 outcomes do not fit/);
  assert.throws(() => unpackOutcomes([{ ...one, trials: "0-99999999999" }]), /no range of starts/);
});

test("a goal is reached when every true run gains enough and every control ends below them", () => {
  const goal = { evaluation: "fresh", gain_points: 25, control_below: true, control_gain_points: 0 };
  const good = results(goal, arm("true", "true", 0, "1110"), arm("control", "control", 0, "0110"));
  assert.deepEqual(
    verdictOf(good).map(({ met, text }) => [met, text.split(": ")[1]]),
    [
      [true, "true_0 +25.0"],
      [true, "the lowest true run 75.0 %, the highest control 50.0 %"],
      [true, "control_0 +0.0"],
    ],
  );
});

test("one seed that gains too little, or a control as good as a true run, misses it", () => {
  const goal = { evaluation: "fresh", gain_points: 25, control_below: true, p_below: 0.05 };
  const [high, low] = [arm("true", "true", 0, "1111"), arm("true", "true", 1, "1100")];
  const found = verdictOf(results(goal, high, low, arm("control", "shuffled_advantages", 0, "1100")));
  assert.deepEqual(
    found.map(({ met }) => met),
    [false, false, false],
  );
});

test("what was not measured is not reached", () => {
  const goal = { evaluation: "fresh", gain_points: -100, control_below: true };
  const absent = { ...arm("true", "true", 0, "1111"), evaluations: [] };
  const found = verdictOf(results(goal, absent, arm("control", "control", 0, "0000")));
  assert.deepEqual(
    found.map(({ met }) => met),
    [false, false],
  );
  assert.match(found[0]!.text, /true_0 not measured/);
});

test("the page has rates, paired differences, and comparisons with the true run of the same seed", () => {
  const page = claimText(
    results(undefined, arm("true", "true", 0, "1110"), arm("rloo", "comparison", 0, "0111")),
  );
  assert.match(page, /\| run \| fresh: fresh starts 0, sampled \(4\) \|/);
  assert.match(page, /\| before \| 50\.0 \(15\.0–85\.0\) \|/);
  assert.match(page, /\| true, seed 0, 2 steps \| fresh \| \+25\.0 \(.* to .*\) \| 1, 0 \| 1\.0000 \|/);
  assert.match(
    page.split("## Against the true run")[1]!,
    /rloo \(comparison\), seed 0, 2 steps \| fresh \| \+0\.0 .* \| 1, 1 \|/,
  );
  assert.doesNotMatch(page, /## Goal/);
});

test("rounds of co-evolution are read from a run's folder and told with its shares before and after", () => {
  const experiment = join(folder, "true_0", "mini");
  mkdirSync(join(experiment, "co-evolution"), { recursive: true });
  const meters = (share: number) => ({
    ...{ falsePositive: { share }, missedSuccess: { share: null } },
    ...{ falseSuccess: { share: 0.125 }, agreement: { share: 1 - share } },
  });
  const rounds = [
    {
      step: 15,
      seconds: 106.2,
      outcome: "refreshed",
      reason: "",
      world: 1,
      before: meters(0.25),
      after: meters(0.125),
    },
    { step: 30, seconds: 3, outcome: "failed", reason: "no memory\nat all", world: 1 },
  ];
  const lines = [...rounds.map((round) => JSON.stringify(round)), '{"step":4'];
  writeFileSync(join(experiment, "co-evolution", "rounds.jsonl"), lines.join("\n"));
  const training = { folder: join(folder, "true_0"), experiment };
  const run = gatherRun({ name: "true", kind: "true", seed: 0, training, evaluations: [] });
  const page = claimText(results(undefined, run));
  assert.match(
    page,
    /\| 15 \| refreshed \| 25\.0 % → 12\.5 % \| – → – \| 12\.5 % → 12\.5 % \| 75\.0 % → 87\.5 % \| 106 \|/,
  );
  assert.match(page, /\| 30 \| failed \| no memory \| \| \| \| 3 \|/);
});

test("a result file that contradicts its own outcomes is refused", () => {
  writeClaimResults(folder, results(undefined, arm("true", "true", 0, "1110")));
  assert.equal(readClaimResults(folder).arms.length, 2);
  const path = join(folder, "claim.json");
  writeFileSync(path, readFileSync(path, "utf8").replace('"1110"', '"1111"'));
  assert.throws(() => readClaimResults(folder), /contradicts itself: true_0, fresh: 0\.75/);
  assert.throws(() => readClaimResults(join(folder, "none")), /there is no .*claim\.json/);
});

test("evaluations of one name that were not made in the same way are refused", () => {
  const strange = arm("true", "true", 0, "1110");
  const other = { ...strange, evaluations: [{ ...strange.evaluations[0]!, seed: 8 }] };
  assert.throws(
    () => requireSameProtocol(results(undefined, other)),
    /seed 7; fresh starts 0, sample, seed 8/,
  );
});

test("curves show true runs in blue and controls in gray; without a step there are none", async () => {
  const chart = await drawClaimCurves(
    results(undefined, arm("true", "true", 0, "1"), arm("control", "control", 0, "0")),
  );
  assert.match(chart?.svg ?? "", /stroke="#0072b2"/);
  assert.match(chart?.svg ?? "", /stroke="#9a9ca3"/);
  assert.equal(await drawClaimCurves(results(undefined)), undefined);
});
