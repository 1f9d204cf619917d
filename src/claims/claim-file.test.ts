import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { armsOf, readClaim } from "./claim-file.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-claim-file-"));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, "mine.yaml");

/** Lines of a whole claim, some of them replaced or added by their first word. */
function claimWith(lines: Readonly<Record<string, string>>): string {
  const whole = {
    question: "Is it so?",
    config: "quickstart",
    overrides: "[runner.max_epochs=2]",
    seeds: "[0, 1]",
    arms: "{ control: { kind: shuffled_within_groups }, other: { kind: comparison, config: b, overrides: [a=1], seeds: [5] } }",
    evaluations: "{ fresh: { starts: fresh, per_task: 3 } }",
    goal: "{ evaluation: fresh, gain_points: 5, control_below: true }",
  };
  const text = Object.entries({ ...whole, ...lines }).map(([key, value]) =>
    value === "" ? "" : `${key}: ${value}`,
  );
  writeFileSync(path, text.join("\n"));
  return path;
}

const refusal = (lines: Readonly<Record<string, string>>, ...overrides: string[]): string => {
  try {
    readClaim(claimWith(lines), overrides);
  } catch (error) {
    return (error as Error).message;
  }
  return "it was taken";
};

test("the true run comes first, and every other arm lays its own settings over the true run's", () => {
  const arms = armsOf(readClaim(claimWith({})));
  assert.deepEqual(arms, [
    { name: "true", kind: "true", config: "quickstart", overrides: ["runner.max_epochs=2"], seeds: [0, 1] },
    {
      name: "control",
      kind: "shuffled_within_groups",
      config: "quickstart",
      overrides: [
        "runner.max_epochs=2",
        "algorithm.shuffle_advantages=true",
        "algorithm.shuffle_within_groups=true",
      ],
      seeds: [0, 1],
    },
    { name: "other", kind: "comparison", config: "b", overrides: ["runner.max_epochs=2", "a=1"], seeds: [5] },
  ]);
});

test("key=value changes the claim's own settings, also those that the file does not write", () => {
  const claim = readClaim(claimWith({}), [
    "seeds=[7]",
    "limits.at_once=3",
    "arms.control.seeds=[7]",
    "~goal",
  ]);
  assert.deepEqual(
    [claim.seeds, claim.limits.at_once, claim.arms.control?.seeds, claim.goal],
    [[7], 3, [7], undefined],
  );
});

test("all mistakes of a file are said at once, each with its line", () => {
  const message = refusal(
    { seeds: "[]", goals: "{}", question: "", limits: "{ at_once: 0, gpu: 1 }" },
    "seed=3",
  );
  assert.match(message, /mine\.yaml has 6 errors:/);
  assert.match(message, /mine\.yaml:4: seeds: expected at least 1, found \[\]/);
  assert.match(message, /mine\.yaml:8: goals: no such setting; did you mean goal\?/);
  assert.match(message, /question: is missing; expected text/);
  assert.match(message, /mine\.yaml:9: limits\.at_once: expected more than 0, found 0/);
  assert.match(
    message,
    /mine\.yaml:9: limits\.gpu: no such setting; there are: at_once, cores, device, minutes/,
  );
  assert.match(message, /command line: seed: .*did you mean seeds\?/);
});

const mistakes: [string, Readonly<Record<string, string>>, RegExp][] = [
  ["no seeds", { seeds: "" }, /seeds: is missing; expected a list/],
  ["a seed twice", { seeds: "[0, 1, 0]" }, /mine\.yaml:4: seeds: has 0 twice/],
  [
    "a goal that needs a control without one",
    { arms: "{}" },
    /mine\.yaml:7: goal: asks for a control, and no arm is one/,
  ],
  ["a goal that asks for nothing", { goal: "{ evaluation: fresh }" }, /goal: asks for nothing/],
  [
    "a goal of an evaluation that there is not",
    { goal: "{ evaluation: stored, gain_points: 1 }" },
    /goal\.evaluation: is "stored"; there are: fresh/,
  ],
  ["no evaluation", { evaluations: "{}", goal: "" }, /evaluations: is empty/],
  [
    "an unknown kind",
    { arms: "{ a: { kind: shuffled } }" },
    /arms\.a\.kind: expected "shuffled_advantages" or /,
  ],
  ["an arm named true", { arms: "{ 'true': { kind: control } }" }, /arms\.true: the name true is taken/],
  ["a name that is no folder's", { arms: "{ ../x: { kind: control } }" }, /a name has small letters/],
  [
    "a seed among the overrides",
    { overrides: "[runner.seed=3]" },
    /overrides\.0: runner\.seed is the claim's to set/,
  ],
  ["a word that is no override", { overrides: "[faster]" }, /overrides\.0: "faster" is not an override/],
  [
    "strange starts",
    { evaluations: "{ fresh: { starts: new } }" },
    /evaluations\.fresh\.starts: starts are "stored"/,
  ],
  ["stored starts per task", { evaluations: "{ fresh: { per_task: 3 } }" }, /per_task: is for fresh starts/],
];
for (const [what, lines, message] of mistakes)
  test(`a claim with ${what} is refused`, () => assert.match(refusal(lines), message));

test("a file that is no YAML, and one that is not there, are refused with their names", () => {
  writeFileSync(path, "question: [");
  assert.throws(() => readClaim(path), /mine\.yaml:1: not valid YAML/);
  assert.throws(() => readClaim(join(folder, "none.yaml")), /cannot read .*none\.yaml/);
});
