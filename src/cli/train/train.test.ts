/** The real command, as a user runs it: what it says when something is wrong, and how it stops. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readMetricsFile } from "#metrics";
import { tinyCheckpoint, tinyOverrides } from "../../../test/support/tiny-run.ts";
import { parseRunArguments } from "../run/arguments.ts";
import { trainCommand } from "./index.ts";

const program = fileURLToPath(new URL("../../../bin/reverie.mjs", import.meta.url));
const config = "tabletop_spatial_grpo_openvlaoft_mini";
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-cli-"));

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/** Runs a command; `onText` sees what it has said so far and may signal it. */
function reverie(
  args: readonly string[],
  onText?: (text: string, signal: (name: NodeJS.Signals) => void) => void,
) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, OMP_NUM_THREADS: "1" },
  });
  let text = "";
  const hear = (piece: Buffer): void => {
    text += piece;
    onText?.(text, (name) => child.kill(name));
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, text })));
}
const run = (logs: string, ...more: string[]): string[] => [
  "train",
  config,
  ...tinyOverrides({ model, logs }),
  ...more,
];

const mistakes: [string, () => string[], RegExp][] = [
  ["no configuration", () => ["train"], /which configuration\? usage: reverie train CONFIG/],
  ["an unknown configuration", () => ["train", "libero_11"], /libero_11/],
  ["an unknown key", () => run(newFolder(), "+algorithm.gama=1"), /algorithm\.gama: no such setting/],
  ["a missing model", () => ["train", config, "actor.model.model_path=/nowhere"], /there is no \/nowhere/],
  [
    "strange starts",
    () => ["eval", config, "--starts", "new"],
    /"stored", "fresh" or "fresh:SEED".*, not "new"/,
  ],
  [
    "fresh starts for training",
    () => ["train", config, "--starts", "fresh"],
    /--starts belongs to reverie eval/,
  ],
  [
    "resuming an evaluation",
    () => ["eval", config, "--resume"],
    /--resume is not an option of reverie eval CONFIG/,
  ],
  [
    "an experiment outside of the log folder",
    () => run(newFolder(), "runner.logger.experiment_name=../x"),
    /experiment_name: is "\.\.\/x", which is no folder inside/,
  ],
  ["a log folder in /proc", () => run("/proc/x"), /folder \/proc\/x cannot be made/],
  ["a word that is no override", () => ["train", config, "faster"], /"faster" is no override/],
  [
    "an env that cannot be played here",
    () => [
      "train",
      "maniskill_ppo_openvlaoft",
      `actor.model.model_path=${model}`,
      "cluster.simulated_devices=8",
    ],
    /maniskill/,
  ],
  ["a folder without checkpoints", () => ["verify", newFolder()], /holds no checkpoint/],
  ["a comparison of one", () => ["compare", newFolder()], /takes two evaluations/],
];
for (const [what, args, message] of mistakes) {
  test(`${what} ends with code 2 and says why`, async () => {
    const { code, text } = await reverie(args());
    assert.match(text, message);
    assert.equal(code, 2, text);
    assert.doesNotMatch(text, /\n\s+at .*\.ts:/, "no stack");
  });
}

test("a run says what it understood of its configuration, as a plan does", async () => {
  const { code, text } = await reverie(
    run(newFolder(), "runner.max_epochs=0", "+algorithm.require_values=False"),
  );
  assert.equal(code, 0, text);
  assert.match(text, /note: command line: algorithm\.require_values: no longer used/);
});

test("a run ends with the commands to go on with, and an evaluation leaves its configuration", async () => {
  const logs = newFolder();
  const { code, text } = await reverie(run(logs, "runner.max_epochs=1"));
  assert.equal(code, 0, text);
  const [, evaluate = ""] = /^ {2}npx reverie (eval .*?) {3}# /m.exec(text) ?? [];
  assert.match(text, /npx reverie train \S+ --resume --out/);
  const out = join(logs, "evaluation");
  const words = evaluate.split(" ").filter((word) => !word.startsWith("'"));
  const evaluated = await reverie([...words, "--out", out, "env.eval.task_id_filter=[0]"]);
  assert.equal(evaluated.code, 0, evaluated.text);
  assert.match(readFileSync(join(out, "config.yaml"), "utf8"), /only_eval: true/);
});

test("of two runs into one folder the second is refused and the first is not disturbed", async () => {
  const logs = newFolder();
  const many = "runner.max_epochs=1000";
  let second: Promise<Ended> | undefined;
  const first = await reverie(run(logs, many), (text, signal) => {
    if (second || !/step 1\/1000/.test(text)) return;
    second = reverie(run(logs, many));
    void second.then(() => signal("SIGINT"));
  });
  const { code, text } = (await second) as Ended;
  assert.equal(code, 2, text);
  assert.match(text, /is in use by a run of .* \(process \d+ on .*\): two runs in one folder/);
  assert.equal(first.code, 0, first.text);
  const steps = readMetricsFile(join(logs, "metrics.jsonl")).map(({ step }) => step);
  assert.deepEqual(steps, [...steps.keys()]);
  assert.ok(existsSync(join(logs, config, "checkpoints", `global_step_${steps.length}`)));
});

test("resuming from a damaged checkpoint is refused, and says which file", async () => {
  const logs = newFolder();
  assert.equal((await reverie(run(logs, "runner.max_epochs=1"))).code, 0);
  const saved = join(logs, config, "checkpoints", "global_step_1");
  writeFileSync(join(saved, "actor", "optimizer.safetensors"), "damaged");
  const { code, text } = await reverie(run(logs, `runner.resume_dir=${saved}`));
  assert.equal(code, 2);
  assert.match(text, /cannot be resumed from:\n +actor\/optimizer\.safetensors has 7 bytes/);
});

test("a run that diverges says so, and saves nothing of it", async () => {
  const logs = newFolder();
  const wild = [
    "algorithm.entropy_bonus=0.01",
    "algorithm.filter_rewards=False",
    "actor.optim.lr=1e30",
    "actor.optim.lr_warmup_steps=0",
  ];
  const { code, text } = await reverie(run(logs, ...wild));
  assert.equal(code, 2, text);
  assert.match(text, /error: training step 0 has ruined the policy: .*\nthere is no checkpoint yet/);
  assert.ok(!existsSync(join(logs, config, "checkpoints", "latest")));
});

test("Ctrl-C saves a checkpoint after the step and ends well, and the run goes on from there", async () => {
  const logs = newFolder();
  let asked = false;
  const stopped = await reverie(
    run(logs, "runner.max_epochs=1000", "runner.save_interval=-1"),
    (text, signal) => {
      if (!asked && /step 2\/1000/.test(text)) {
        asked = true;
        signal("SIGINT");
      }
    },
  );
  assert.equal(stopped.code, 0, stopped.text);
  assert.match(stopped.text, /stopped; go on with: reverie train/);
  assert.ok(existsSync(join(logs, config, "checkpoints", "latest", "state.json")));
  const { code, text } = await reverie(["verify", logs]);
  assert.equal(code, 0, text);
});

test("a closed terminal saves as Ctrl-C does", async () => {
  const logs = newFolder();
  let asked = false;
  const endless = ["runner.max_epochs=1000", "runner.save_interval=-1"];
  const stopped = await reverie(run(logs, ...endless), (text, signal) => {
    if (!asked && /step 1\/1000/.test(text)) {
      asked = true;
      signal("SIGHUP");
    }
  });
  assert.equal(stopped.code, 0, stopped.text);
  assert.ok(existsSync(join(logs, config, "checkpoints", "latest", "state.json")));
});

/** Whoever writes to this pipe waits for a reader that never comes: the run's thread then hangs in the system call, for ever. */
function hangingRun(): string[] {
  const logs = newFolder();
  execFileSync("mkfifo", [join(logs, "metrics.log")]);
  return run(logs, "runner.max_epochs=1000", "runner.stop_timeout=4");
}

test("a run that hangs when it is told to stop ends at its deadline, and says what it was at", async () => {
  let asked = false;
  const { code, text } = await reverie(hangingRun(), (said, signal) => {
    if (!asked && /results go to/.test(said)) {
      asked = true;
      setTimeout(() => signal("SIGTERM"), 15_000);
    }
  });
  assert.equal(code, 2, text);
  assert.match(text, /told to stop and made no progress for 4 s while at: actor_training/);
  assert.match(text, /go on with: reverie train .* --resume/);
});

test("a second signal ends a run that hangs at once", async () => {
  let asked = 0;
  const patient = hangingRun().map((word) => word.replace("stop_timeout=4", "stop_timeout=600"));
  const { code, text } = await reverie(patient, (said, signal) => {
    if (asked === 0 && /results go to/.test(said)) {
      asked = 1;
      setTimeout(() => signal("SIGTERM"), 15_000);
    }
    if (asked === 1 && /a second signal ends at once/.test(said)) {
      asked = 2;
      signal("SIGTERM");
    }
  });
  assert.equal(code, 143, text);
});

test("--dry-run prints the plan and starts nothing", async () => {
  const logs = join(newFolder(), "unborn");
  const { code, text } = await reverie(run(logs, "--dry-run"));
  assert.equal(code, 0);
  assert.match(text, /one training step/);
  assert.ok(!existsSync(logs));
});

const parse = (argv: string[]) => parseRunArguments(argv, trainCommand, new Date(2026, 0, 31, 5, 6, 7));

test("results go to logs/<time>-<config> unless another folder is named", () => {
  assert.equal(parse(["libero_10_grpo"]).folder, "logs/20260131-050607-libero_10_grpo");
  assert.equal(parse(["a.yaml", "--out", "b"]).folder, "b");
  assert.equal(parse(["a", "runner.logger.log_path=c"]).folder, "c");
});

test("--resume finds the newest run, also beside one whose name still has colons", () => {
  const [here, folder] = [process.cwd(), newFolder()];
  for (const name of ["20260131-05:06:07-x", "20260131-050608-x", "20260131-050609-y"])
    mkdirSync(join(folder, "logs", name), { recursive: true });
  process.chdir(folder);
  try {
    assert.equal(parse(["x", "--resume"]).folder, "logs/20260131-050608-x");
  } finally {
    process.chdir(here);
    rmSync(folder, { recursive: true });
  }
});
