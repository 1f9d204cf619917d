/** The whole main job at its smallest: an untrained policy, two tasks, one training step. Nothing can improve, and it must say so. */
import assert from "node:assert/strict";
import { exec, execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readPng } from "#formats";
import { listCheckpoints, readEvaluation } from "#training";
import { tinyCheckpoint, tinyOverrides } from "../../../test/support/tiny-run.ts";
import { readImprovement } from "./improvement.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const model = tinyCheckpoint(["tabletop_object"], "tabletop");
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-start-"));

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command line as a shell does. */
function reverie(line: string): Promise<Ended> {
  return new Promise((resolve) =>
    exec(`"${process.execPath}" bin/reverie.mjs ${line}`, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? null) : 0, output: stdout + stderr }),
    ),
  );
}

/** Runs the command as a user does; `watch` sees its output grow and may send signals. */
function start(
  argv: readonly string[],
  watch?: (output: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Ended> {
  return new Promise((resolve) => {
    let output = "";
    const child = execFile(process.execPath, ["bin/reverie.mjs", "start", ...argv], { cwd: root });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text: string) => {
        output += text;
        watch?.(output, (signal) => child.kill(signal));
      });
    child.on("close", (code) => resolve({ code, output }));
  });
}

function tinyJob(folder: string, steps: number): string[] {
  const overrides = tinyOverrides({ model, logs: folder, steps }).filter(
    (text) => !text.includes("log_path"),
  );
  const short = ["train", "eval"].flatMap((section) => [
    `env.${section}.max_episode_steps=8`,
    `env.${section}.max_steps_per_rollout_epoch=8`,
    `env.${section}.task_id_filter=[0,1]`,
  ]);
  return ["--out", folder, "--minutes", "0", ...overrides, ...short, "env.eval.total_num_envs=20"];
}

test("the job evaluates, trains, evaluates again, and says that an untrained policy did not improve", async () => {
  const folder = newFolder();
  const { code, output } = await start(tinyJob(folder, 1));
  assert.equal(code, 0, output);
  const file = readImprovement(join(folder, "results.json"));
  assert.deepEqual([file.before.episodes, file.after.episodes], [100, 100]);
  assert.equal(file.tasks.length, 2);
  assert.deepEqual([file.fresh?.before.episodes, file.fresh?.after.episodes], [50, 50]);
  const starts = (name: string) =>
    readEvaluation(join(folder, name, "results.json")).protocol.starts as object;
  assert.deepEqual(
    { ...starts("before"), because: "" },
    { kind: "stored", seed: null, seen_in_training: "unknown", because: "" },
  );
  assert.deepEqual(
    { ...starts("after"), because: "" },
    { kind: "stored", seed: null, seen_in_training: "yes", because: "" },
  );
  assert.deepEqual(
    { ...starts("after-fresh"), because: "" },
    { kind: "fresh", seed: 0, seen_in_training: "no", because: "" },
  );
  assert.match(output, /fresh starts \(training never sees them\)/);
  assert.equal(file.significance.pairs, 100);
  assert.equal(file.gain, file.after.success - file.before.success);
  assert.deepEqual(
    { ...file.training, episodes: 0 },
    { steps: 1, planned_steps: 1, ended_by: "steps", episodes: 0 },
  );
  assert.ok(file.seconds >= file.phases.before! + file.phases.after!);
  assert.match(output, /no significant change: [+-]\d+\.\d points, which may be luck/);
  assert.equal(readEvaluation(join(folder, "before", "results.json")).trials.length, 100);
  const picture = readPng(join(folder, file.files.learning_curve!));
  assert.ok(picture.width > 600);
  assert.equal(readFileSync(join(folder, file.files.video!)).toString("latin1", 4, 8), "ftyp");
  assert.ok(existsSync(join(folder, file.files.checkpoint!, "actor", "model", "model.safetensors")));
  assert.equal(output.match(/npx reverie/g)?.length, 3);
  const [, trainOn = ""] = /npx reverie (train .*) {3}# train on/.exec(output) ?? [];
  const more = await reverie(`${trainOn.replace("max_epochs=31", "max_epochs=2")}`);
  assert.equal(more.code, 0, more.output);
  assert.match(more.output, /step 2\/2/);
  rmSync(folder, { recursive: true });
});

test("a job that is interrupted in training leaves a checkpoint and goes on from it", async () => {
  const folder = newFolder();
  let asked = false;
  const stopped = await start(tinyJob(folder, 40), (output, kill) => {
    if (asked || !output.includes("step 1/40")) return;
    asked = true;
    kill("SIGINT");
  });
  assert.equal(stopped.code, 130, stopped.output);
  assert.match(stopped.output, /reverie start --resume --out/);
  const [saved] = listCheckpoints(join(folder, "quickstart", "checkpoints")).slice(-1);
  assert.ok(saved && saved.step >= 1 && saved.step < 40);
  // Time for nothing but the rest: it must end early, evaluate, and say that the time was up.
  const resumed = await start(["--resume", "--out", folder, "--minutes", "0.05"]);
  assert.equal(resumed.code, 0, resumed.output);
  assert.match(resumed.output, new RegExp(`resuming from .*${saved.step} steps done`));
  const { training } = readImprovement(join(folder, "results.json"));
  assert.equal(training.ended_by, "time");
  assert.ok(training.steps > saved.step && training.steps < 40);
  rmSync(folder, { recursive: true });
});

test("mistakes are told before anything is written or played", async () => {
  const folder = join(newFolder(), "job");
  const bad = [
    ["--minutes", "soon"],
    ["--seed", "-1"],
    ["--resume", "--out", folder],
    ["nowhere", "--out", folder],
    ["actor.optim.lr=fast", "--out", folder],
    ["actor.model.model_path=absent", "--out", folder],
  ];
  const ended = await Promise.all(bad.map((argv) => start(argv)));
  const codes = ended.map(({ code }) => code);
  assert.deepEqual(
    codes,
    bad.map(() => 2),
    ended.map(({ output }) => output).join("\n"),
  );
  assert.equal(existsSync(folder), false);
});
