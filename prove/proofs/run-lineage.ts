/**
 * The real command line on a tiny run: two runs in one folder, a new run in a used one, a return to an earlier step, damaged and renamed
 * checkpoints, changed settings, a diverging rate. Each must be refused or kept apart, and nothing of a run may be lost.
 */
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readMetricsFile } from "#metrics";
import { findDamage, listCheckpoints } from "#training";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { Checks, type Outcome, type Proof } from "../proof.ts";

const program = fileURLToPath(new URL("../../bin/reverie.mjs", import.meta.url));
const config = "tabletop_spatial_grpo_openvlaoft_mini";
const deadlineMilliseconds = 240_000;

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

class Bench {
  readonly root = mkdtempSync(join(tmpdir(), "reverie-lineage-"));
  readonly model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
  readonly logs = join(this.root, "run");

  /** `onText` sees what the command has said so far and may signal it. */
  train(
    logs: string,
    more: readonly string[],
    onText?: (text: string, signal: (name: NodeJS.Signals) => void) => void,
  ): Promise<Ended> {
    const overrides = [...tinyOverrides({ model: this.model, logs }), ...alive, ...more];
    const child = spawn(process.execPath, [program, "train", config, ...overrides], {
      env: { ...process.env, OMP_NUM_THREADS: "1" },
      timeout: deadlineMilliseconds,
    });
    let text = "";
    const hear = (piece: Buffer): void => {
      text += piece;
      onText?.(text, (name) => child.kill(name));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, text })));
  }

  step(number: number): string {
    return join(this.logs, config, "checkpoints", `global_step_${number}`);
  }

  /** Everything that a refused command must leave as it is. */
  state(): string {
    const lines = readFileSync(join(this.logs, "metrics.jsonl"), "utf8");
    return JSON.stringify([this.steps(), this.told(), lines]);
  }

  steps = (): number[] => listCheckpoints(join(this.logs, config, "checkpoints")).map(({ step }) => step);

  told = (): number[] => readMetricsFile(join(this.logs, "metrics.jsonl")).map(({ step }) => step);

  close(): void {
    for (const folder of [this.root, this.model]) rmSync(folder, { recursive: true, force: true });
  }
}

const alive = [
  "algorithm.entropy_bonus=0.01",
  "algorithm.filter_rewards=False",
  "actor.optim.lr_warmup_steps=0",
];
const resume = "runner.resume_dir=auto";

/** While the first run goes on, a second one and a new one into the same folder. */
async function together(bench: Bench, checks: Checks): Promise<void> {
  let second: Promise<Ended> | undefined;
  const first = await bench.train(bench.logs, ["runner.max_epochs=1000"], (text, signal) => {
    if (second || !/step 1\/1000/.test(text)) return;
    second = bench.train(bench.logs, ["runner.max_epochs=1000"]);
    void second.then(() => signal("SIGTERM"));
  });
  const { code, text } = (await second) ?? { code: null, text: "it never began" };
  checks.check(
    "a second run in the folder of a running one is refused",
    code === 2 && /is in use by/.test(text),
    text,
  );
  checks.check("the first run ends well", first.code === 0, first.text);
  const { length } = bench.told();
  checks.check(
    "and has every step in its metrics",
    bench.told().every((step, i) => step === i) && length > 0,
  );
  checks.check("and its last step as a checkpoint", bench.steps().at(-1) === length, String(bench.steps()));
  checks.check("which is whole", findDamage(bench.step(length)).length === 0);
}

async function refused(bench: Bench, checks: Checks): Promise<void> {
  const before = bench.state();
  const cases: [string, string[], RegExp][] = [
    ["a new run into the used folder is refused", [], /already holds a run .*\n.*--resume --out/],
    [
      "another seed on resume is refused with both values",
      [resume, "runner.seed=7"],
      /runner\.seed: 0 before, 7 now/,
    ],
    [
      "another group size on resume is refused",
      [resume, "algorithm.group_size=4", "env.train.group_size=4"],
      /group_size: 2 before, 4 now/,
    ],
    [
      "an experiment outside of the log folder is refused",
      ["runner.logger.experiment_name=../x"],
      /experiment_name: is "\.\.\/x"/,
    ],
  ];
  for (const [what, more, message] of cases) {
    const { code, text } = await bench.train(bench.logs, more);
    checks.check(what, code === 2 && message.test(text), text);
  }
  checks.check("and the run is as it was", bench.state() === before);
}

async function goingBack(bench: Bench, checks: Checks): Promise<void> {
  const all = bench.told();
  const back = [`runner.resume_dir=${bench.step(1)}`, "runner.max_epochs=2", "actor.optim.lr=1e-5"];
  const { code, text } = await bench.train(bench.logs, back);
  checks.check(
    "going back to step 1 says what was changed",
    code === 0 && /optim\.lr: .* before, 0\.00001 now/.test(text),
    text,
  );
  checks.check(
    "the run has steps 1 and 2 now",
    String(bench.steps()) === "1,2" && String(bench.told()) === "0,1",
  );
  const [apart = "none"] = readdirSync(join(bench.logs, "abandoned"));
  const left = join(bench.logs, "abandoned", apart);
  const kept = readMetricsFile(join(left, "metrics.jsonl")).map(({ step }) => step);
  checks.check(`what came after is whole in abandoned/${apart}`, String(kept) === String(all));
  const lost = listCheckpoints(join(left, "checkpoints")).filter(
    ({ folder }) => findDamage(folder).length > 0,
  );
  checks.check("with whole checkpoints", lost.length === 0);
  const on = await bench.train(bench.logs, [resume, "runner.max_epochs=3", "actor.optim.lr=1e-5"]);
  checks.check(
    "--resume follows the new branch",
    on.code === 0 && /resuming from .*global_step_2: /.test(on.text),
    on.text,
  );
  checks.check("and its steps are told once each", String(bench.told()) === "0,1,2", String(bench.told()));
}

async function diverging(bench: Bench, checks: Checks): Promise<void> {
  const before = String(bench.steps());
  const wild = await bench.train(bench.logs, [resume, "runner.max_epochs=5", "actor.optim.lr=1e10"]);
  const named = wild.text.includes(`the last good checkpoint is ${bench.step(3)}`);
  checks.check(
    "a rate of 1e10 ends the run, which names its last good checkpoint",
    wild.code === 2 && named,
    wild.text,
  );
  checks.check("and saves nothing", String(bench.steps()) === before, String(bench.steps()));
  const good = await bench.train(bench.logs, [resume, "runner.max_epochs=4", "actor.optim.lr=1e-5"]);
  checks.check("and that checkpoint is good", good.code === 0 && bench.steps().at(-1) === 4, good.text);
}

async function damaged(bench: Bench, checks: Checks): Promise<void> {
  rmSync(bench.step(3), { recursive: true });
  renameSync(bench.step(4), bench.step(9));
  const renamed = await bench.train(bench.logs, [resume, "runner.max_epochs=2", "actor.optim.lr=1e-5"]);
  checks.check(
    "a renamed checkpoint is noticed",
    /holds step 4, and its folder was renamed/.test(renamed.text),
    renamed.text,
  );
  checks.check(
    "and kept apart",
    !existsSync(bench.step(9)) && String(bench.steps()) === "1,2",
    String(bench.steps()),
  );
  for (const number of bench.steps()) writeFileSync(join(bench.step(number), "state.json"), "{");
  const before = bench.state();
  const none = await bench.train(bench.logs, [resume, "runner.max_epochs=4", "actor.optim.lr=1e-5"]);
  checks.check(
    "with all checkpoints damaged nothing is begun",
    none.code === 2 && /no whole checkpoint/.test(none.text),
    none.text,
  );
  checks.check("and nothing is changed", bench.state() === before);
}

export const proof: Proof = {
  claim: "No run mixes with another, loses numbers, or goes on from what is not its own or not sane.",
  goal: "all checks hold",
  minutes: 3,
  async run(say): Promise<Outcome> {
    const checks = new Checks(say);
    const bench = new Bench();
    try {
      for (const part of [together, refused, goingBack, diverging, damaged]) await part(bench, checks);
    } finally {
      bench.close();
    }
    return checks.outcome();
  },
};
