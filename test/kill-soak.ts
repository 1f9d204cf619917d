/**
 * Kills a real training run at random moments, again and again, half of the time while it writes a checkpoint, and resumes it.
 *
 * After every kill each visible checkpoint must be whole and at most one told step may be missing; at the end weights and metrics must
 * equal those of a run that nobody disturbed. `node --import tsx test/kill-soak.ts 50` runs fifty kills; the test beside this runs a few.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Metrics, readMetricsFile } from "#metrics";
import { findDamage, listCheckpoints } from "#training";
import { tinyCheckpoint, tinyOverrides } from "./support/tiny-run.ts";

const program = fileURLToPath(new URL("../bin/reverie.mjs", import.meta.url));
const config = "tabletop_spatial_grpo_openvlaoft_mini";

export interface SoakResult {
  readonly kills: number;
  readonly duringWrite: number; // kills while a checkpoint was being written
  readonly lostSteps: number; // most steps that one kill cost
}

export async function killSoak(kills: number, say: (line: string) => void = () => {}): Promise<SoakResult> {
  const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
  const [calm, rough] = ["calm", "rough"].map((name) => mkdtempSync(join(tmpdir(), `reverie-${name}-`))) as [
    string,
    string,
  ];
  const steps = kills * 4 + 4; // a kill may come after several steps
  const start = (logs: string): ChildProcess => startRun(tinyOverrides({ model, logs, steps }));
  const tally = { kills: 0, duringWrite: 0, lostSteps: 0 };
  while (tally.kills < kills) {
    const child = start(rough);
    const wrote = await killSomewhere(child, checkpoints(rough), tally.kills % 2 === 0);
    if (wrote === "ended") break;
    tally.kills++;
    if (wrote === "writing") tally.duringWrite++;
    const lost = checkRemains(rough);
    tally.lostSteps = Math.max(tally.lostSteps, lost);
    say(`kill ${tally.kills}: ${wrote}, ${stepsTold(rough)} steps told, ${lost} lost, checkpoints whole`);
  }
  assert.equal(await ended(start(rough)), 0, "the last resumption ends well");
  assert.equal(await ended(start(calm)), 0);
  assert.deepEqual(remains(rough), remains(calm), "weights and metrics equal those of an undisturbed run");
  for (const folder of [calm, rough, model]) rmSync(folder, { recursive: true });
  return tally;
}

function startRun(overrides: readonly string[]): ChildProcess {
  const extra = [
    "algorithm.entropy_bonus=0.01",
    "algorithm.filter_rewards=False",
    "runner.keep_checkpoints=3",
  ];
  return spawn(
    process.execPath,
    [program, "train", config, ...overrides, ...extra, "runner.resume_dir=auto"],
    { stdio: "ignore", env: { ...process.env, OMP_NUM_THREADS: "1" } },
  );
}

const checkpoints = (logs: string): string => join(logs, config, "checkpoints");
const hiddenIn = (root: string): boolean =>
  existsSync(root) && readdirSync(root).some((name) => name.startsWith(".global_step"));

/** Waits for a moment and kills: within a write if wanted, else anywhere after the first checkpoint of this process. */
async function killSomewhere(child: ChildProcess, root: string, inWrite: boolean): Promise<string> {
  const end = ended(child);
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  const stale = new Set(existsSync(root) ? readdirSync(root) : []);
  const began = (): boolean => existsSync(root) && readdirSync(root).some((name) => !stale.has(name));
  while (!isOver && !began()) await sleep(2);
  if (inWrite) {
    while (!isOver && !hiddenIn(root)) await new Promise(setImmediate);
    await sleep(Math.random() * 6);
  } else await sleep(Math.random() * 400);
  const writing = hiddenIn(root);
  if (isOver) return "ended";
  child.kill("SIGKILL");
  await end;
  return writing ? "writing" : "running";
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code)));

const stepsTold = (logs: string): number => {
  const file = join(logs, "metrics.jsonl");
  return existsSync(file) ? readMetricsFile(file).length : 0;
};

/** Every visible checkpoint is whole; gives how many told steps are not in the newest one. */
function checkRemains(logs: string): number {
  const saved = listCheckpoints(checkpoints(logs));
  for (const { folder } of saved) assert.deepEqual(findDamage(folder), [], folder);
  const lost = stepsTold(logs) - (saved.at(-1)?.step ?? 0);
  assert.ok(lost <= 1, `${lost} steps lost`);
  return Math.max(0, lost);
}

/** What must not depend on kills. */
function remains(logs: string): { weights: Buffer; metrics: readonly Metrics[] } {
  const last = listCheckpoints(checkpoints(logs)).at(-1);
  assert.ok(last);
  const timeless = ({ metrics }: { metrics: Metrics }): Metrics =>
    Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith("time/")));
  return {
    weights: readFileSync(join(last.folder, "actor", "model", "model.safetensors")),
    metrics: readMetricsFile(join(logs, "metrics.jsonl")).map(timeless),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const result = await killSoak(Number(process.argv[2] ?? 50), (line) => console.log(line));
  console.log(JSON.stringify(result));
}
