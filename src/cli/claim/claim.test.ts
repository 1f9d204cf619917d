/** The real command with real runs: a small claim from its plan to its tables, interrupted, resumed, and with an arm that fails. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { readClaimResults } from "#claims";
import { tinyCheckpoint, tinyOverrides } from "../../../test/support/tiny-run.ts";

const program = fileURLToPath(new URL("../../../bin/reverie.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "reverie-claim-"));
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
after(() => {
  for (const path of [folder, model]) rmSync(path, { recursive: true });
});
const steps = 4;
const overrides = tinyOverrides({ model, logs: "", steps }).filter((text) => !text.includes("log_path"));
const evaluation = { overrides: [...overrides, "env.eval.task_id_filter=[0]"] };

function writeClaim(name: string, content: object): string {
  const path = join(folder, `${name}.yaml`);
  const common = {
    question: "Does a tiny policy learn?",
    config: "tabletop_spatial_grpo_openvlaoft_mini",
    overrides,
  };
  writeFileSync(path, stringify({ ...common, limits: { device: "cpu", at_once: 2 }, ...content }));
  return path;
}

/** Runs the command; `onTick` is asked now and then and may signal it. */
function claim(args: readonly string[], onTick?: (signal: (name: NodeJS.Signals) => void) => void) {
  const child = spawn(process.execPath, [program, "claim", ...args], {
    env: { ...process.env, OMP_NUM_THREADS: "1" },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (text += piece));
  const ticking = setInterval(() => onTick?.((name) => child.kill(name)), 50);
  return new Promise<{ code: number | null; text: string }>((resolve) =>
    child.on("close", (code) => {
      clearInterval(ticking);
      resolve({ code, text });
    }),
  );
}

const small = writeClaim("small", {
  seeds: [0, 1],
  arms: { control: { kind: "shuffled_advantages", seeds: [0] } },
  evaluations: { stored: evaluation },
  goal: { evaluation: "stored", gain_points: 0, control_gain_points: 0 },
});
const out = join(folder, "small");
const read = (name: string): string => readFileSync(join(out, name), "utf8");

test("a plan names every command, invents no time, and starts nothing", async () => {
  const { code, text } = await claim([small, "--dry-run", "--out", out]);
  assert.equal(code, 0, text);
  assert.match(text, /^to do +3 trainings, 4 evaluations; 2 at a time$/m);
  assert.match(text, /^time +not known/m);
  assert.match(
    text,
    /^to do +npx reverie train .*algorithm\.shuffle_advantages=true runner\.seed=0 .*control_0$/m,
  );
  assert.equal(text.match(/npx reverie eval /g)?.length, 4);
  assert.ok(!existsSync(out));
});

test("a claim that is told to stop ends its runs with what they have done", async () => {
  let asked = false;
  const { code, text } = await claim([small, "--out", out], (signal) => {
    const log = join(out, "true_0.log");
    if (asked || !existsSync(log) || !/step 2\//.test(readFileSync(log, "utf8"))) return;
    asked = true;
    signal("SIGTERM");
  });
  assert.equal(code, 143, text);
  assert.match(text, /stopped; go on with: npx reverie claim \S+small\.yaml --resume --out/);
  assert.match(read("true_0.log"), /stopping: the steps that are done are saved/);
});

test("what is half done is not begun anew without --resume", async () => {
  const { code, text } = await claim([small, "--out", out]);
  assert.equal(code, 2);
  assert.match(text, /already holds parts of this claim; to go on: .*--resume/);
});

test("a resumed claim goes on with its runs, evaluates all, and reaches its goal", async () => {
  const plan = await claim([small, "--dry-run", "--out", out]);
  assert.match(plan.text, /^resume +npx reverie train .*true_0$/m);
  const { code, text } = await claim([small, "--resume", "--out", out]);
  assert.equal(code, 0, text);
  assert.match(read("true_0.log"), /resuming from .*global_step_/);
  assert.match(text, /The goal is reached\./);
  for (const name of ["claim.json", "claim.md", "curves.svg", "curves.png"])
    assert.ok(existsSync(join(out, name)), name);
  const { arms } = readClaimResults(out);
  assert.deepEqual(
    arms.map(({ name, seed, curve, evaluations }) => [name, seed, curve.length, evaluations.length]),
    [
      ["base", null, 0, 1],
      ["true", 0, steps, 1],
      ["true", 1, steps, 1],
      ["control", 0, steps, 1],
    ],
  );
});

test("what is done is not done again, and its time is what a plan expects", async () => {
  const { code, text } = await claim([small, "--resume", "--out", out]);
  assert.equal(code, 0, text);
  assert.doesNotMatch(text, /begins/);
  const plan = await claim([small, "seeds=[0,1,2]", "--dry-run", "--out", out]);
  assert.match(plan.text, /^to do +1 training, 1 evaluation;/m);
  assert.match(
    plan.text,
    /^time +about .*\(trainings took .* each here, mean of 3; evaluations took .* each here, mean of 4\)$/m,
  );
});

test("results of other settings are not taken for those of the claim", async () => {
  const { code, text } = await claim([small, "evaluations.stored.seed=9", "--resume", "--out", out]);
  assert.equal(code, 2);
  assert.match(text, /run with other settings: base_stored, true_0_stored, true_1_stored, control_0_stored/);
});

test("the table is made again from claim.json alone, letter for letter", async () => {
  const kept = join(folder, "kept");
  mkdirSync(kept);
  cpSync(join(out, "claim.json"), join(kept, "claim.json"));
  const { code, text } = await claim(["--table", kept]);
  assert.equal(code, 0, text);
  for (const name of ["claim.md", "curves.svg"])
    assert.equal(readFileSync(join(kept, name), "utf8"), read(name), name);
  assert.equal(text.trimEnd(), read("claim.md").trimEnd());
});

test("an arm that fails is told about and one that takes too long is ended with a checkpoint; the others go on", async () => {
  const broken = join(folder, "broken.pt");
  writeFileSync(broken, "no weights");
  const file = writeClaim("failing", {
    seeds: [0],
    arms: {
      broken: { kind: "comparison", overrides: [`runner.ckpt_path=${broken}`] },
      endless: { kind: "comparison", overrides: ["runner.max_epochs=100000"] },
    },
    limits: { device: "cpu", at_once: 2, minutes: 0.75 },
    evaluations: { stored: evaluation },
    goal: { evaluation: "stored", gain_points: 50 },
  });
  const into = join(folder, "failing");
  const { code, text } = await claim([file, "--out", into]);
  assert.equal(code, 2, text);
  assert.match(text, /^broken_0: failed after .*broken\.pt/m);
  assert.match(text, /^endless_0: time limit after .*ended by the limit of 0\.75 minutes/m);
  assert.match(text, /error: broken_0, broken_0_stored failed/);
  assert.match(text, /\*\*missed\*\*: every true run gains at least 50 points \(stored\): true_0 \+0\.0/);
  assert.match(text, /\| broken \(comparison\), seed 0, 0 steps \| not measured \|/);
  assert.deepEqual(
    readClaimResults(into).arms.map(({ evaluations }) => evaluations.length),
    [1, 1, 0, 1],
  );
});
