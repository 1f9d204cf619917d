/** Real checkpoints of a small run of three steps, copied into folders in which everything goes wrong that can. */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readMetricsFile } from "#metrics";
import { playRun, tinyCheckpoint, tinyOverrides } from "../../../test/support/tiny-run.ts";
import { readState } from "../checkpoint/content.ts";
import { pointLatest } from "../checkpoint/folder.ts";
import { findDamage, manifestName, sealFolder } from "../checkpoint/manifest.ts";
import { readRun } from "../read-run.ts";
import { silent } from "../reporter.ts";
import { Run } from "../run.ts";
import { train } from "../train.ts";
import { RunFolder } from "./run-folder.ts";

const config = "tabletop_spatial_grpo_openvlaoft_mini";
const alive = ["algorithm.entropy_bonus=0.01", "algorithm.filter_rewards=False"];
const root = mkdtempSync(join(tmpdir(), "reverie-folders-"));
after(() => rmSync(root, { recursive: true, force: true }));
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
let count = 0;
const newPath = (): string => join(root, String(count++));
const checkpoints = (logs: string): string => join(logs, config, "checkpoints");
const step = (logs: string, number: number): string => join(checkpoints(logs), `global_step_${number}`);
const told = (logs: string): number[] =>
  readMetricsFile(join(logs, "metrics.jsonl")).map((line) => line.step);

const read = (logs: string, ...more: string[]) =>
  readRun(config, { overrides: [...tinyOverrides({ model, logs }), ...alive, ...more] });

const play = async (logs: string, ...more: string[]): Promise<void> => playRun(await read(logs, ...more));

/** Decides where a run begins and, where asked, lets it begin. */
async function open(logs: string, more: readonly string[], begin = false) {
  const said: string[] = [];
  const folder = RunFolder.open(await read(logs, ...more), (line) => said.push(line));
  if (begin) folder.begin();
  folder.close();
  return { from: folder.start.from?.folder, start: folder.start, said: said.join("\n") };
}
const resume = ["runner.resume_dir=auto"];

const finished = newPath();
before(() => play(finished, "runner.max_epochs=3"));
function copy(): string {
  const logs = newPath();
  cpSync(finished, logs, { recursive: true, verbatimSymlinks: true });
  return logs;
}

test("every checkpoint says which run it is of and which came before it", () => {
  const [first, second, third] = [1, 2, 3].map((number) => readState(step(finished, number)));
  assert.deepEqual(
    [first, second, third].map((state) => state?.run?.parent),
    [0, 1, 2],
  );
  assert.deepEqual(first?.run?.lineage, third?.run?.lineage);
  assert.deepEqual(JSON.parse(readFileSync(join(finished, "run.json"), "utf8")).lineage, third?.run?.lineage);
  assert.ok(!existsSync(join(finished, ".run.lock")), "and the folder is free");
});

test("a new run into a used folder is refused, with the commands for both things that were meant", async () => {
  const logs = copy();
  await assert.rejects(
    open(logs, []),
    /already holds a run \(3 steps in metrics\.jsonl, checkpoints global_step_1, .*\n.*--resume --out .*\n.*another --out/,
  );
  rmSync(join(logs, "metrics.jsonl"));
  await assert.rejects(open(logs, []), /already holds a run/);
  await assert.rejects(open(logs, ["runner.logger.experiment_name=other"]), /already holds a run/);
  assert.deepEqual(findDamage(step(logs, 3)), []);
});

test("another experiment is not gone on with in a run's folder", async () => {
  await assert.rejects(
    open(copy(), [...resume, "runner.logger.experiment_name=other"]),
    /holds another run: experiment tabletop_spatial_grpo_openvlaoft_mini .* and this one is other/,
  );
});

test("going back to step 1 keeps apart what came after it, and --resume then follows the new branch", async () => {
  const logs = copy();
  await play(logs, `runner.resume_dir=${step(logs, 1)}`, "actor.optim.lr=1e-5", "runner.max_epochs=2");
  assert.deepEqual(readdirSync(checkpoints(logs)).sort(), ["global_step_1", "global_step_2", "latest"]);
  assert.deepEqual(told(logs), [0, 1]);
  const [apart = ""] = readdirSync(join(logs, "abandoned"));
  const left = join(logs, "abandoned", apart);
  assert.match(apart, /-after-step-1$/);
  assert.deepEqual(readdirSync(join(left, "checkpoints")).sort(), ["global_step_2", "global_step_3"]);
  assert.deepEqual(told(left), [0, 1, 2], "the whole curve of the branch that was left");
  assert.deepEqual(findDamage(join(left, "checkpoints", "global_step_3")), []);
  assert.equal((await open(logs, [...resume, "actor.optim.lr=1e-5"])).from, step(logs, 2));
  assert.equal(readState(step(logs, 2)).run?.parent, 1);
});

test("--resume follows the lineage and not the highest number, even when a kill came before anything was moved", async () => {
  const logs = copy();
  const lines = readFileSync(join(logs, "metrics.jsonl"), "utf8");
  await open(logs, [`runner.resume_dir=${step(logs, 1)}`], true);
  const [apart = ""] = readdirSync(join(logs, "abandoned"));
  for (const number of [2, 3])
    renameSync(join(logs, "abandoned", apart, "checkpoints", `global_step_${number}`), step(logs, number));
  writeFileSync(join(logs, "metrics.jsonl"), lines);
  const { from, said } = await open(logs, resume, true);
  assert.equal(from, step(logs, 1));
  assert.match(said, /kept apart in .*abandoned.* no longer part of this run: global_step_2, global_step_3/);
  assert.equal(readlinkSync(join(checkpoints(logs), "latest")), "global_step_1");
});

test("without run.json the checkpoint that was written last says whose they are", async () => {
  const logs = copy();
  rmSync(join(logs, "run.json"));
  assert.equal((await open(logs, resume)).from, step(logs, 3));
});

test("a checkpoint of another run in the folder is passed over and kept apart", async () => {
  const [logs, other] = [copy(), newPath()];
  await play(other, "runner.max_epochs=1");
  rmSync(step(logs, 3), { recursive: true });
  const state = { ...readState(step(other, 1)), step: 9 };
  cpSync(step(other, 1), step(logs, 9), { recursive: true });
  reseal(step(logs, 9), state);
  const { from } = await open(logs, resume, true);
  assert.equal(from, step(logs, 2));
  assert.ok(!existsSync(step(logs, 9)));
});

function reseal(folder: string, state: object): void {
  writeFileSync(join(folder, "state.json"), JSON.stringify(state));
  rmSync(join(folder, manifestName));
  sealFolder(folder);
}

test("when all checkpoints are damaged nothing is begun and nothing is changed", async () => {
  const logs = copy();
  for (const number of [1, 2, 3]) writeFileSync(join(step(logs, number), "state.json"), "{");
  const found = readdirSync(logs, { recursive: true }).sort();
  await assert.rejects(
    open(logs, resume),
    /no whole checkpoint of this run .* nothing was changed\n.*global_step_3: .*\n.*\n.*global_step_1: .*\n.*without --resume and with another --out/,
  );
  assert.deepEqual(readdirSync(logs, { recursive: true }).sort(), found);
});

test("damaged ones are told, passed over and kept apart", async () => {
  const logs = copy();
  writeFileSync(join(step(logs, 3), "state.json"), "{");
  const { from, said } = await open(logs, resume, true);
  assert.equal(from, step(logs, 2));
  assert.match(said, /global_step_3 is damaged/);
  const [apart = ""] = readdirSync(join(logs, "abandoned"));
  assert.ok(existsSync(join(logs, "abandoned", apart, "checkpoints", "global_step_3", "actor")));
});

test("a checkpoint that was renamed is not taken for other steps than it has done", async () => {
  const logs = copy();
  rmSync(step(logs, 3), { recursive: true });
  renameSync(step(logs, 2), step(logs, 4));
  const { from, said } = await open(logs, resume);
  assert.equal(from, step(logs, 1));
  assert.match(said, /holds step 2, and its folder was renamed/);
  await assert.rejects(open(logs, [`runner.resume_dir=${step(logs, 4)}`]), /holds step 2/);
});

test("a checkpoint of another folder begins a run in a new one, and --resume finds it before the first checkpoint", async () => {
  const logs = newPath();
  const { start } = await open(logs, [`runner.resume_dir=${step(finished, 2)}`], true);
  assert.equal(start.from?.state.step, 2);
  assert.equal(start.lineage.length, 2);
  const again = await open(logs, resume);
  assert.equal(again.from, step(finished, 2));
  assert.deepEqual(again.start.lineage, start.lineage);
  await assert.rejects(open(copy(), [`runner.resume_dir=${step(finished, 2)}`]), /already holds a run/);
});

test("what was changed is said with both values, and what the run depends on is refused", async () => {
  const logs = copy();
  const { said } = await open(logs, [...resume, "actor.optim.lr=0.5", "runner.save_interval=7"]);
  assert.match(said, /actor\.optim\.lr: [\de.-]+ before, 0\.5 now/);
  assert.doesNotMatch(said, /save_interval|log_path/);
  const group = ["algorithm.group_size=4", "env.train.group_size=4"];
  await assert.rejects(
    open(logs, [...resume, ...group]),
    /algorithm\.group_size: 2 before, 4 now\n.*\n.*new run from these weights:.* --model .*global_step_3 --out NEW/,
  );
  await assert.rejects(open(logs, [...resume, "runner.seed=5"]), /runner\.seed: 0 before, 5 now/);
});

test("a run goes on with its base model wherever that lies now, and not with another", async () => {
  const logs = copy();
  const moved = newPath();
  cpSync(model, moved, { recursive: true });
  const use = (path: string): string[] => [
    ...resume,
    `actor.model.model_path=${path}`,
    `rollout.model.model_path=${path}`,
  ];
  assert.equal((await open(logs, use(moved))).from, step(logs, 3));
  const other = tinyCheckpoint(["tabletop_spatial"], "tabletop", 2);
  await assert.rejects(open(logs, use(other)), /the base model: .* before, .* now, and it is not the same/);
});

/** As an earlier version would have left it. */
function withoutIdentity(logs: string): void {
  rmSync(join(logs, "run.json"));
  for (const number of [1, 2, 3]) {
    const { run: _run, settings: _settings, base: _base, ...state } = readState(step(logs, number));
    reseal(step(logs, number), state);
    utimesSync(join(step(logs, number), manifestName), 1000 + number, 1000 + number);
  }
}

test("checkpoints from before there were identities load, and the run has one from then on", async () => {
  const logs = copy();
  withoutIdentity(logs);
  await play(logs, ...resume, "runner.max_epochs=4");
  const { run } = readState(step(logs, 4));
  assert.equal(run?.parent, 3);
  assert.deepEqual(
    run?.lineage.map(({ id, from }) => [id === null, from]),
    [
      [true, 0],
      [false, 3],
    ],
  );
  assert.equal((await open(logs, resume)).from, step(logs, 4));
  rmSync(step(logs, 4), { recursive: true });
  assert.equal((await open(logs, resume)).from, step(logs, 3), "the older ones are still its own");
});

test("without identities, higher numbers that are older than latest are of a branch that was left", async () => {
  const logs = copy();
  withoutIdentity(logs);
  utimesSync(join(step(logs, 2), manifestName), 2000, 2000);
  pointLatest(checkpoints(logs), step(logs, 2));
  assert.equal((await open(logs, resume)).from, step(logs, 2));
});

test("numbers that would have no place are refused before anything starts", async () => {
  const logs = newPath();
  mkdirSync(join(logs, "metrics.jsonl"), { recursive: true });
  await assert.rejects(open(logs, []), /metrics\.jsonl is a folder/);
  await assert.rejects(open("/proc/x", []), /folder \/proc\/x cannot be made/);
});

test("a folder that is removed in the middle of a run is made again, with all numbers", async () => {
  const logs = newPath();
  let removed = false;
  const said: string[] = [];
  const run = await Run.open(await read(logs, "runner.max_epochs=3"), {
    ...silent,
    say: (line) => said.push(line),
    told: () => {
      if (!removed) rmSync(logs, { recursive: true });
      removed = true;
    },
  });
  await train(run);
  await run.close();
  assert.deepEqual(told(logs), [0, 1, 2]);
  assert.match(said.join("\n"), /metrics\.jsonl was removed or replaced/);
  assert.deepEqual(findDamage(step(logs, 3)), []);
  assert.equal((await open(logs, resume)).from, step(logs, 3));
});
