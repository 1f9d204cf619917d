/** A run that is told to stop ends within its deadline, saved where that is promised, and leaves nothing behind. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { Checks, type Proof } from "../proof.ts";
import { checkout, descendants, type Ended, isAlive, RunningCommand } from "../running-command.ts";

const config = "tabletop_spatial_grpo_openvlaoft_mini";
/** Seconds from the signal to the end of a run that is well: one chunk of actions and a small checkpoint, on a machine that may be busy. */
const toSave = 60;
/** `runner.stop_timeout` of the runs that hang, and what may pass besides. */
const patience = 5;
const slack = 15;

interface Case {
  readonly name: string;
  /** Seconds that it may take from the signal on. */
  readonly deadline: number;
  readonly saves: boolean;
  readonly signal: (command: RunningCommand) => void;
  /** Before the run starts, and before the signal. */
  readonly prepare?: (logs: string) => void;
  readonly disturb?: (command: RunningCommand) => void;
  readonly script?: boolean;
  readonly says: RegExp;
  readonly overrides?: readonly string[];
  /** What has been said when the signal is due. */
  readonly when?: RegExp;
}

const stopped = /stopped; go on with: reverie train/;
const cases: readonly Case[] = [
  { name: "SIGTERM", deadline: toSave, saves: true, signal: (run) => run.signal("SIGTERM"), says: stopped },
  { name: "SIGHUP", deadline: toSave, saves: true, signal: (run) => run.signal("SIGHUP"), says: stopped },
  {
    name: "Ctrl-C in a terminal (SIGINT to the group), while it films",
    deadline: toSave,
    saves: true,
    signal: (run) => run.signalGroup("SIGINT"),
    says: stopped,
    overrides: ["env.train.video_cfg.save_video=True"],
  },
  {
    name: "Ctrl-C on run_embodiment.sh",
    deadline: toSave,
    saves: true,
    signal: (run) => run.signalGroup("SIGINT"),
    says: stopped,
    script: true,
  },
  {
    name: "SIGTERM while an env worker hangs",
    deadline: toSave,
    saves: true,
    signal: (run) => run.signal("SIGTERM"),
    disturb: (run) => {
      for (const pid of descendants(run.pid)) if (isEnvWorker(pid)) process.kill(pid, "SIGSTOP");
    },
    says: stopped,
  },
  {
    name: "SIGTERM while the run's own thread hangs in a system call",
    deadline: patience + slack,
    saves: false,
    signal: (run) => run.signal("SIGTERM"),
    prepare: (logs) => void execFileSync("mkfifo", [join(logs, "metrics.log")]), // nobody ever reads from it
    says: /told to stop and made no progress for 5 s while at: actor_training/,
    when: /step 1: training/,
  },
];

export const proof: Proof = {
  claim:
    "A run that is told to stop ends within its deadline, with a checkpoint where promised, and leaves nothing behind.",
  goal: "all stops in time, nothing left",
  minutes: 4,
  async run(say) {
    const checks = new Checks(say);
    const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
    for (const one of cases) await play(one, model, checks);
    rmSync(model, { recursive: true, force: true });
    return checks.outcome();
  },
};

async function play(one: Case, model: string, checks: Checks): Promise<void> {
  const own = mkdtempSync(join(tmpdir(), "reverie-stops-"));
  one.prepare?.(own);
  const command = start(one, model, own);
  let logs = own;
  try {
    const ready = await command.until((text) => (one.when ?? /step 1\/1000/).test(text));
    checks.check(`${one.name}: a run is under way`, ready, command.text.slice(-300));
    if (!ready) return;
    if (one.when) await pause(3); // until it writes to the pipe
    logs = /results go to (\S+)/.exec(command.text)?.[1] ?? own;
    const below = descendants(command.pid);
    one.disturb?.(command);
    const began = performance.now();
    one.signal(command);
    const ended = await command.endedWithin(one.deadline);
    const seconds = (performance.now() - began) / 1000;
    await pause(1);
    judge(one, { checks, ended, seconds, below, logs });
  } finally {
    command.destroy();
    for (const folder of new Set([own, logs])) rmSync(folder, { recursive: true, force: true });
  }
}

function start({ script, overrides = [] }: Case, model: string, logs: string): RunningCommand {
  const tiny = tinyOverrides({ model, logs, steps: 1000 }).filter(
    (word) => !(script && word.includes("log_path")),
  );
  const all = [
    config,
    ...tiny,
    "env.train.env_workers=2",
    "runner.save_interval=-1",
    `runner.stop_timeout=${patience}`,
    ...overrides,
  ];
  if (!script) return RunningCommand.reverie("train", ...all);
  return new RunningCommand("bash", [checkout("examples/embodiment/run_embodiment.sh"), ...all]);
}

interface Finding {
  readonly checks: Checks;
  readonly ended: Ended | undefined;
  readonly seconds: number;
  readonly below: readonly number[];
  readonly logs: string;
}

function judge(
  { name, deadline, saves, says }: Case,
  { checks, ended, seconds, below, logs }: Finding,
): void {
  checks.check(
    `${name}: ended after ${seconds.toFixed(1)} s of ${deadline} s`,
    ended !== undefined,
    "a run that goes on",
  );
  if (!ended) return;
  checks.check(`${name}: says so`, says.test(ended.text), ended.text.slice(-400));
  checks.check(`${name}: no complaint of a broken pipe`, !/EPIPE/.test(ended.text), ended.text.slice(-400));
  if (saves) {
    const verified = join(logs, config, "checkpoints", "latest", "state.json");
    checks.check(`${name}: a checkpoint was saved`, existsSync(verified) && ended.by === 0, `${ended.by}`);
  }
  const alive = below.filter(isAlive);
  checks.check(`${name}: no process is left of ${below.length}`, alive.length === 0, alive.join(", "));
  const shared = readdirSync("/dev/shm").filter((file) => file.startsWith("reverie-frames-"));
  const half = readdirSync(logs, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".tmp"),
  );
  checks.check(
    `${name}: no half-made file is left`,
    shared.length + half.length === 0,
    [...shared, ...half].join(", "),
  );
}

const isEnvWorker = (pid: number): boolean =>
  readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("host-process");

const pause = (seconds: number): Promise<void> => new Promise((resume) => setTimeout(resume, 1000 * seconds));
