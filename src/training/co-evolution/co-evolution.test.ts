/** Whole small runs inside a toy world that learns along, for real: simulator, policy, world, judge, processes. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openImagination, openLearnedEnv } from "#envs";
import { type Metrics, readMetricsFile } from "#metrics";
import { openDemonstrations } from "#recordings";
import { zeros } from "#tensor";
import { tinyCheckpoint } from "../../../test/support/tiny-run.ts";
import { toyWorld } from "../../../test/support/toy-world.ts";
import { RecordedFrames } from "../../world-training/frames/recorded-frames.ts";
import { rewardModelSettings, trainRewardModel } from "../../world-training/reward-model/training.ts";
import { listCheckpoints } from "../checkpoint/folder.ts";
import { dryRun, readRun } from "../read-run.ts";
import { silent } from "../reporter.ts";
import { Run } from "../run.ts";
import { checkpointRoot } from "../run-folder/places.ts";
import { train } from "../train.ts";
import type { Round } from "./rounds.ts";

const suite = "tabletop_object";
const configuration = "opensora_tabletop_object_grpo_openvlaoft_mini";
const model = tinyCheckpoint([suite], "tabletop");
const { world, data } = await toyWorld(suite, 12);
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-run-"));

const tiny = [
  "cluster.simulated_devices=1",
  "runner.max_epochs=2",
  "runner.save_interval=1",
  `actor.model.model_path=${model}`,
  `rollout.model.model_path=${model}`,
  "actor.global_batch_size=8",
  "actor.micro_batch_size=4",
  "algorithm.group_size=2",
  "algorithm.filter_rewards=False",
  "algorithm.entropy_bonus=0.01",
  "algorithm.kl_beta=0.05",
  "algorithm.kl_penalty=k3",
  "env.train.total_num_envs=4",
  "env.train.rollout_epoch=1",
  "env.train.max_episode_steps=16",
  "env.train.max_steps_per_rollout_epoch=16",
  "env.train.world_model_cfg.image_size=[16,16]",
  `env.train.opensora_wm_hf_ckpt_path=${world}`,
  "env.eval.total_num_envs=2",
  "env.eval.max_episode_steps=16",
  "env.eval.max_steps_per_rollout_epoch=16",
  "env.eval.init_params.camera_heights=16",
  "env.eval.init_params.camera_widths=16",
  "env.eval.env_workers=0",
];
const evolving = [
  "runner.co_evolution.enabled=True",
  "runner.co_evolution.interval=1",
  "runner.co_evolution.episodes=6",
  "runner.co_evolution.exam_episodes=6",
  "runner.co_evolution.workers=2",
  `runner.co_evolution.data=[${data}]`,
  "runner.co_evolution.refresh.steps=2",
  "runner.co_evolution.refresh.judge_steps=1",
  "runner.co_evolution.refresh.batch_size=4",
  "runner.co_evolution.refresh.tolerance=1",
];

interface Outcome {
  readonly metrics: readonly Metrics[];
  readonly rounds: readonly Round[];
  readonly said: readonly string[];
  readonly logs: string;
  readonly root: string;
}

async function play(
  overrides: readonly string[],
  logs = newFolder(),
  stopAfter = 99,
  onceOpen = () => {},
): Promise<Outcome> {
  const all = [...tiny, `runner.logger.log_path=${logs}`, ...overrides];
  const checked = await readRun(configuration, { overrides: all, requireFiles: true });
  const said: string[] = [];
  const told = (step: number): void => {
    if (step + 1 === stopAfter) run.stop();
  };
  const run = await Run.open(checked, { ...silent, told, say: (line) => said.push(line) });
  onceOpen();
  await train(run);
  await run.close();
  const root = join(logs, configuration, "co-evolution");
  const rounds = existsSync(root) ? readFileSync(join(root, "rounds.jsonl"), "utf8") : "";
  return {
    metrics: readMetricsFile(join(logs, "metrics.jsonl")).map(({ metrics }) => timeless(metrics)),
    rounds: rounds
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Round),
    said,
    logs,
    root: checkpointRoot(checked),
  };
}

const timeless = (metrics: Metrics): Metrics =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith("time/")));
const bytes = (folder: string): Buffer => readFileSync(join(folder, "model-00001.safetensors"));

test("a run's own copy of the world learns along, the given one stays, and a killed run goes on to the same numbers", async () => {
  const before = bytes(world);
  const straight = await play(evolving);
  assert.deepEqual(
    straight.rounds.map(({ step, outcome, world: version }) => [step, outcome, version]),
    [
      [1, "refreshed", 1],
      [2, "measured", 1],
    ],
    straight.said.join("\n"),
  );
  assert.deepEqual(bytes(world), before);
  const worlds = join(straight.logs, configuration, "co-evolution", "worlds");
  assert.deepEqual(readdirSync(worlds).sort(), ["step_0", "step_1"]);
  assert.deepEqual(bytes(join(worlds, "step_0")), before);
  assert.notDeepEqual(bytes(join(worlds, "step_1")), before);
  for (const metrics of straight.metrics) {
    assert.ok(metrics["world/agreement"]! >= 0 && metrics["world/agreement"]! <= 1);
    assert.equal(metrics["world/rolled_back"], 0);
    assert.ok(metrics["train/actor/reference_kl"]! >= 0, "the policy is held near its beginning");
  }

  const logs = newFolder();
  const stopped = await play(evolving, logs, 1);
  assert.deepEqual(
    listCheckpoints(stopped.root).map(({ step }) => step),
    [1],
  );
  appendFileSync(join(logs, configuration, "co-evolution", "rounds.jsonl"), '{"step":2,"half'); // a kill in the second round
  const resumed = await play([...evolving, "runner.resume_dir=auto"], logs);
  assert.deepEqual(resumed.metrics, straight.metrics);
  const timed = ({ seconds: _, ...round }: Round) => round;
  assert.deepEqual(resumed.rounds.map(timed), straight.rounds.map(timed));
});

test("a round that fails leaves the world as it is and says why; the run goes on, and the best checkpoint is marked", async () => {
  const lost = join(newFolder(), "data");
  cpSync(data, lost, { recursive: true });
  const overrides = [
    ...evolving,
    `runner.co_evolution.data=[${lost}]`,
    "runner.val_check_interval=1",
    "runner.stop_when_gap_grows.enabled=True",
    "runner.stop_when_gap_grows.episodes=2",
    "runner.save_interval=-1",
  ];
  const { metrics, rounds, said, root } = await play(overrides, newFolder(), 1, () =>
    rmSync(lost, { recursive: true }),
  );
  assert.deepEqual([rounds[0]?.outcome, rounds[0]?.world], ["failed", 0]);
  assert.match(said.join("\n"), /co-evolution after step 1: failed.*no dataset\.json/);
  assert.equal(metrics[0]!["world/failed"], 1);
  assert.equal(
    metrics[0]!["eval/dream_gap"],
    metrics[0]!["env/success_once"]! - metrics[0]!["eval/success_once"]!,
  );
  assert.equal(readlinkSync(join(root, "best")), "global_step_1");
});

const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["recordings that are not there", ["runner.co_evolution.data=[/nowhere]"], /there is no \/nowhere/],
  [
    "another suite to play in",
    ["env.eval.task_suite_name=tabletop_spatial"],
    /world imagines tabletop_object/,
  ],
  ["an unknown key", ["runner.co_evolution.epsiodes=3"], /episodes/],
  ["stopping without evaluations", ["runner.stop_when_gap_grows.enabled=True"], /val_check_interval/],
];
for (const [what, overrides, message] of mistakes) {
  test(`${what}: refused before anything starts`, async () => {
    const all = [...tiny, ...evolving, ...overrides];
    await assert.rejects(readRun(configuration, { overrides: all, requireFiles: true }), message);
  });
}

test("a plan tells what co-evolution will do", async () => {
  const { text } = await dryRun(configuration, { overrides: [...tiny, ...evolving] });
  assert.match(text, /co-evolution every 1 step, in tabletop_object/);
  assert.match(text, /from 6 new episodes and 3000 old ones \(1 folder\)/);
});

test("a simulator has nothing to learn: co-evolution with one as env.train is refused", async () => {
  const overrides = ["runner.co_evolution.enabled=True"];
  await assert.rejects(
    readRun("tabletop_object_grpo_openvlaoft_mini", { overrides }),
    /needs an imagined env\.train.*found libero/,
  );
});

test("a second reward model in the world's folder votes in its env, and a horizon cuts its dreams off", async () => {
  const frames = new RecordedFrames([openDemonstrations(data)], "cpu");
  const brief = {
    steps: 1,
    batch_size: 4,
    lr_warmup_steps: 1,
    widths: [4, 4, 4, 4],
    seed: 2,
    file: "second",
  };
  await trainRewardModel(frames, rewardModelSettings.parse(brief), world);
  const section = (more: readonly string[]) =>
    readRun(configuration, { overrides: [...tiny, ...more], requireFiles: true });
  const judges = `env.train.judges=[${join(world, "second.pth")}]`;
  const { config } = await section([judges, "env.train.judge_vote=mean", "env.train.horizon_chunks=1"]);
  const { rewardModel } = await openImagination(config.env.train, {});
  assert.equal(rewardModel.name, "mean of 2 judges");
  const env = await openLearnedEnv(config.env.train, { size: 2 });
  await env.reset();
  const { truncated } = await env.step(zeros([2, 8, 7]));
  assert.deepEqual(truncated.select(1, 7).toArray().map(Number), [1, 1]);
  await env.close();
  await assert.rejects(section(["env.train.judge_vote=loudest"]), /min.*mean.*median/s);
});

test("a run ends before its last step when dreams leave the simulator behind, and keeps the best checkpoint", async () => {
  const watching = [
    "runner.max_epochs=4",
    "runner.val_check_interval=1",
    "runner.keep_checkpoints=1",
    "runner.stop_when_gap_grows.enabled=True",
    "runner.stop_when_gap_grows.patience=1",
    "runner.stop_when_gap_grows.episodes=3",
  ];
  const logs = newFolder();
  await play([...watching, "env.train.judge_threshold=1"], logs, 1); // no dream succeeds
  const credulous = [...watching, "env.train.judge_threshold=0", "runner.resume_dir=auto"]; // all do
  const { metrics, said, root } = await play(credulous, logs);
  assert.deepEqual(
    metrics.map((each) => [each["eval/dream_gap"], each["eval/closed_loop_false_positive"]]),
    [
      [0, 0],
      [1, 1],
    ],
  );
  assert.match(said.at(-1) ?? "", /grew from 0\.0 to 100\.0 %: .*training ends.*step 1/);
  assert.equal(readlinkSync(join(root, "best")), "global_step_1");
  assert.deepEqual(
    listCheckpoints(root).map(({ step }) => step),
    [1, 2],
  );
});
