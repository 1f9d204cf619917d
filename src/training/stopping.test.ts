/** A run that is told to stop gives up what it can do again, and goes on as if it had never been stopped. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Metrics, readMetricsFile } from "#metrics";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { listCheckpoints } from "./checkpoint/folder.ts";
import { readRun } from "./read-run.ts";
import { silent } from "./reporter.ts";
import { Run } from "./run.ts";
import { checkpointRoot } from "./run-folder/places.ts";
import { train } from "./train.ts";

const config = "tabletop_spatial_grpo_openvlaoft_mini";
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-stopping-"));
/** An untrained policy never succeeds; an entropy bonus gives it a gradient all the same. */
const settings = [
  "algorithm.entropy_bonus=0.01",
  "algorithm.filter_rewards=False",
  "actor.optim.lr_warmup_steps=0",
  "runner.val_check_interval=2",
  "runner.save_interval=-1",
];

interface Result {
  readonly phases: readonly string[];
  readonly steps: number;
}

/** Runs until the end, or until `stopAt` (called with every phase and its place in the run) says so. */
async function play(
  logs: string,
  more: readonly string[],
  stopAt = (_: string, __: number) => false,
): Promise<Result> {
  const phases: string[] = [];
  let run: Run | undefined;
  const doing = (phase: string): void => {
    phases.push(phase);
    if (run && !run.stopping && stopAt(phase, run.step)) run.stop();
  };
  const overrides = [...tinyOverrides({ model, logs, steps: 3 }), ...settings, ...more];
  run = await Run.open(await readRun(config, { overrides }), { ...silent, doing });
  await train(run);
  await run.close();
  return { phases, steps: run.step };
}

/** All numbers but times, and the weights of the last checkpoint. */
async function outcome(logs: string): Promise<{ metrics: Metrics[]; weights: Buffer }> {
  const checked = await readRun(config, {
    overrides: [...tinyOverrides({ model, logs, steps: 3 }), ...settings],
  });
  const last = listCheckpoints(checkpointRoot(checked)).at(-1)?.folder ?? "";
  const metrics = readMetricsFile(join(logs, "metrics.jsonl")).map(({ step, metrics: all }) => ({
    step,
    ...Object.fromEntries(Object.entries(all).filter(([name]) => !name.includes("time"))),
  }));
  return { metrics, weights: readFileSync(join(last, "actor", "model", "model.safetensors")) };
}

const calm = newFolder();
const calmly = play(calm, ["runner.save_interval=4"]);

const moments = [
  ["in the middle of its episodes", "generate_rollouts", 1, 1],
  ["in the middle of an evaluation", "eval", 1, 2],
] as const;
for (const [when, phase, atStep, saved] of moments) {
  test(`a run that is stopped ${when} saves at once, and goes on to the same numbers and weights`, async () => {
    await calmly;
    const logs = newFolder();
    let seen = 0;
    const first = await play(logs, [], (now, step) => now === phase && step === atStep && ++seen === 2);
    assert.equal(first.steps, saved);
    assert.equal(first.phases.at(-1), "save_checkpoint");
    const second = await play(logs, ["runner.resume_dir=auto", "runner.save_interval=4"]);
    assert.equal(second.steps, 3);
    assert.deepEqual(await outcome(logs), await outcome(calm));
  });
}

test("a run that is stopped before its first step is done saves nothing and says so", async () => {
  const logs = newFolder();
  const { steps, phases } = await play(logs, [], (phase) => phase === "generate_rollouts");
  assert.equal(steps, 0);
  assert.ok(!phases.includes("save_checkpoint"));
});
