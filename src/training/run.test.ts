/** Whole small runs, for real: simulator, policy, updates, checkpoints. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { RankCounts } from "#config";
import type { SimulatorEnv } from "#envs";
import { readSafetensors } from "#formats";
import { type Metrics, readMetricsFile } from "#metrics";
import { liveTensors } from "#tensor";
import { assertCloseMetrics } from "../../test/support/close.ts";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { listCheckpoints } from "./checkpoint/folder.ts";
import { readRun } from "./read-run.ts";
import { silent } from "./reporter.ts";
import { Run } from "./run.ts";
import { checkpointRoot } from "./run-folder/places.ts";
import { train } from "./train.ts";

const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
const grpo = "tabletop_spatial_grpo_openvlaoft_mini";
const ppo = "tabletop_spatial_ppo_openvlaoft_mini";
/** An untrained policy never succeeds; an entropy bonus gives it a gradient all the same. */
const alive = ["algorithm.entropy_bonus=0.01", "algorithm.filter_rewards=False"];
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-run-"));

interface Outcome {
  readonly metrics: readonly Metrics[];
  readonly weights: Readonly<Record<string, Buffer>>; // by file
  readonly folder: string;
  readonly worlds: RankCounts;
}

/** Trains and gives what must be equal between equal runs: numbers without times, and the last weights. */
async function play(config: string, overrides: string[], logs = newFolder()): Promise<Outcome> {
  const checked = await readRun(config, { overrides: [...tinyOverrides({ model, logs }), ...overrides] });
  const run = await Run.open(checked, silent);
  await train(run);
  await run.close();
  const last = listCheckpoints(checkpointRoot(checked)).at(-1)!;
  return {
    ...outcomeOf(logs),
    weights: weightFiles(join(last.folder, "actor", "model")),
    folder: last.folder,
    worlds: checked.ranks,
  };
}

function weightFiles(folder: string): Record<string, Buffer> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".safetensors"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
}

function outcomeOf(logs: string): { metrics: Metrics[] } {
  const lines = readMetricsFile(join(logs, "metrics.jsonl"));
  const timeless = (metrics: Metrics): Metrics =>
    Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith("time/")));
  return { metrics: lines.map(({ metrics }) => timeless(metrics)) };
}

// First: what later tests leave to the garbage collector would be counted.
test("a training step leaves no tensor behind", async () => {
  const logs = newFolder();
  const overrides = [...tinyOverrides({ model, logs, steps: 4 }), ...alive];
  const counts: number[] = [];
  const run = await Run.open(await readRun(grpo, { overrides }), {
    ...silent,
    told: () => counts.push(liveTensors()),
  });
  await train(run);
  await run.close();
  // Fewer: the garbage collector has found what opening the run left to it.
  const growth = counts.slice(2).map((count, i) => count - counts[i + 1]!);
  assert.ok(growth.length === 2 && growth.every((more) => more <= 0), counts.join());
});

test("a run trains: weights move, every step is logged, and checkpoints can be loaded by anyone", async () => {
  const { metrics, weights } = await play(grpo, alive);
  assert.equal(metrics.length, 2);
  assert.ok(metrics[0]!["train/actor/grad_norm"]! > 0);
  assert.equal(metrics[0]!["env/num_trajectories"], 4);
  assert.notDeepEqual(weights, weightFiles(model));
});

test("the same run twice gives the same numbers and the same weights, to the bit", async () => {
  const [first, second] = [await play(grpo, alive), await play(grpo, alive)];
  assert.deepEqual(second.metrics, first.metrics);
  assert.deepEqual(second.weights, first.weights);
});

test("another seed gives another run", async () => {
  const [first, second] = [await play(grpo, alive), await play(grpo, [...alive, "runner.seed=1"])];
  assert.notDeepEqual(second.weights, first.weights);
});

const resumable: [string, string, string[]][] = [
  ["grpo", grpo, alive],
  [
    "ppo with auto-reset, whose episodes go on across steps",
    ppo,
    [
      ...alive.slice(0, 1),
      "algorithm.group_size=1",
      "env.train.auto_reset=True",
      "env.train.use_fixed_reset_state_ids=False",
      "env.train.max_episode_steps=24",
      "actor.optim.critic_warmup_steps=3",
    ],
  ],
  ["grpo with adapters", grpo, [...alive, "actor.model.is_lora=True", "actor.model.lora_rank=2"]],
];
for (const [what, config, overrides] of resumable) {
  test(`${what}: two steps, then two resumed, equal four steps straight, to the bit`, async () => {
    const straight = await play(config, [...overrides, "runner.max_epochs=4"]);
    const logs = newFolder();
    await play(config, [...overrides, "runner.max_epochs=2", "++actor.optim.total_training_steps=4"], logs);
    const resumed = await play(config, [...overrides, "runner.max_epochs=4", "runner.resume_dir=auto"], logs);
    assert.deepEqual(resumed.metrics, straight.metrics);
    assert.deepEqual(resumed.weights, straight.weights);
  });
}

/** What one collection recorded, as plain numbers. */
async function collected(overrides: string[]) {
  const checked = await readRun(grpo, {
    overrides: [...tinyOverrides({ model, logs: newFolder() }), ...overrides],
  });
  const run = await Run.open(checked, silent);
  await run.crew.syncWeights(0);
  const { rollout } = await run.crew.collect(0);
  await run.close();
  return {
    worlds: checked.ranks,
    tokens: rollout.forwardInputs.action_tokens!.toArray(),
    pictures: rollout.forwardInputs.images!.toArray(),
    rewards: rollout.rewards.toArray(),
  };
}

test("the samples are the same with one pipeline stage and two, with one env worker and two, in processes and without", async () => {
  const [{ worlds: _, ...base }, ...others] = await Promise.all([
    collected(["env.train.rollout_epoch=2"]),
    collected(["env.train.rollout_epoch=2", "rollout.pipeline_stage_num=2"]),
    collected(["env.train.rollout_epoch=2", "cluster.simulated_devices=2", "actor.micro_batch_size=1"]),
    collected(["env.train.rollout_epoch=2", "env.train.env_workers=2"]),
  ]);
  assert.equal(others[1]?.worlds.env, 2);
  for (const { worlds: _, ...other } of others) assert.deepEqual(other, base);
});

test("films of evaluations are below video/eval, those of training below video/train", async () => {
  const films = async (section: "train" | "eval"): Promise<string[]> => {
    const logs = newFolder();
    const filming = [`env.${section}.video_cfg.save_video=True`, "runner.val_check_interval=1"];
    await play(grpo, [...alive, ...filming, "runner.max_epochs=1"], logs);
    const files = readdirSync(join(logs, "video"), { recursive: true, encoding: "utf8" });
    const found = files.filter((file) => file.endsWith(".mp4"));
    assert.ok(found.length > 0);
    return [...new Set(found.map((file) => file.split("/")[0] as string))];
  };
  assert.deepEqual(await films("eval"), ["eval"]);
  assert.deepEqual(await films("train"), ["train"]);
});

test("a reference policy, several update epochs, resampling, a success filter and late weights go together", async () => {
  const { metrics } = await play(grpo, [
    "algorithm.entropy_bonus=0.01",
    "algorithm.kl_beta=0.1",
    "algorithm.kl_penalty=k3",
    "algorithm.update_epoch=2",
    "algorithm.resample_dead_groups=1",
    "runner.weight_sync_interval=2",
    "actor.optim.lr_warmup_steps=0",
    "runner.max_epochs=3",
  ]);
  assert.equal(metrics[0]!["env/num_trajectories"], 8, "every group was dead and was collected again");
  assert.equal("train/entropy_loss" in metrics[0]!, false, "the filter left nothing to measure");
});

for (const config of [grpo, grpo.replace("grpo", "rloo")])
  test(`${config}: without any bonus, a step makes the actions of a group's only success likelier and those of its failures less likely`, async () => {
    const settings = ["algorithm.entropy_bonus=0", "algorithm.filter_rewards=False", "actor.optim.lr=1e-3"];
    const overrides = [
      ...tinyOverrides({ model, logs: newFolder() }),
      ...settings,
      "actor.optim.lr_warmup_steps=0",
    ];
    const run = await Run.open(await readRun(config, { overrides }), silent);
    await run.crew.syncWeights(0);
    const collected = await run.crew.collect(0);
    const { rewards } = collected.rollout; // [T, 4, C]; nothing succeeded, so the first episode of the first group is given a success
    rewards
      .select(1, 0)
      .select(0, (rewards.shape[0] ?? 1) - 1)
      .narrow(0, (rewards.shape[2] ?? 1) - 1, 1)
      .add_(5);
    const advantages = await run.crew.advantages(collected, 0);
    const columns = 4;
    const forwardInputs = Object.fromEntries(
      Object.entries(advantages.samples.forwardInputs).map(([name, tensor]) => [name, tensor.clone()]),
    );
    const likelihoods = (): number[] =>
      run.crew.actors.first.policy
        .evaluate({ forwardInputs })
        .logProbs.sum([1, 2])
        .reshape([-1, columns])
        .sum(0)
        .toArray()
        .map(Number);
    const before = likelihoods();
    const { metrics } = await run.crew.learn(advantages, 0);
    const gained = likelihoods().map((now, column) => now - before[column]!);
    await run.close();
    assert.ok(metrics["train/actor/grad_norm"]! > 0);
    assert.ok(metrics["train/entropy_loss"]! > 0, "entropy is measured without a bonus");
    assert.ok(gained[0]! > 0 && gained[1]! < 0, gained.join());
    assert.ok(gained[0]! > Math.max(...gained.slice(1)), gained.join());
  });

test("how far a policy has moved from its reference is reported: not at all, or far", async () => {
  const moved = async (lr: number): Promise<number> => {
    const settings = ["algorithm.kl_beta=0.1", "algorithm.kl_penalty=k3", "actor.optim.lr_warmup_steps=0"];
    const { metrics } = await play(grpo, [
      ...alive,
      ...settings,
      `actor.optim.lr=${lr}`,
      "runner.max_epochs=1",
    ]);
    return metrics[0]!["train/actor/reference_kl"]!;
  };
  assert.ok((await moved(1e-9)) < 1e-6);
  assert.ok((await moved(1e-2)) > 1e-3);
});

test("weights of a file are laid over the model, and a file of something else is refused", async () => {
  const other = tinyCheckpoint(["tabletop_spatial"], "tabletop", 2);
  const still = ["algorithm.entropy_bonus=0", "runner.max_epochs=1"]; // nothing succeeds: no gradient
  const laid = await play(grpo, [...still, `runner.ckpt_path=${join(other, "model.safetensors")}`]);
  const fromThere = await play(grpo, [...still, `actor.model.model_path=${other}`]);
  assert.deepEqual(laid.weights, fromThere.weights);
  const wrong = join(laid.folder, "actor", "optimizer.safetensors");
  await assert.rejects(play(grpo, [...still, `runner.ckpt_path=${wrong}`]), /has no weight of this policy/);
});

test("an env worker that dies in the middle of a rollout is replaced, and the samples are the same", async () => {
  const open = async () => {
    const overrides = [...tinyOverrides({ model, logs: newFolder() }), "env.train.env_workers=2"];
    const run = await Run.open(await readRun(grpo, { overrides }), silent);
    await run.crew.syncWeights(0);
    return run;
  };
  const [calm, rough] = [await open(), await open()];
  const expected = await calm.crew.collect(0);
  let killed = false;
  const env = rough.crew.stages[0]!.opened.env as SimulatorEnv;
  const found = await rough.crew.collect(0, () => {
    if (!killed) process.kill(env.workers.pids[0]!, "SIGKILL");
    killed = true;
  });
  assert.equal(env.workers.losses, 1);
  const tokens = ({ rollout }: typeof found) => rollout.forwardInputs.action_tokens!.toArray();
  assert.deepEqual(tokens(found), tokens(expected));
  await Promise.all([calm.close(), rough.close()]);
});

test("a run for several machines, or for Ray, is planned but not started", async () => {
  const start = async (...overrides: string[]) => {
    const checked = await readRun(grpo, {
      overrides: [...tinyOverrides({ model, logs: newFolder() }), ...overrides],
    });
    return Run.open(checked, silent);
  };
  await assert.rejects(start("cluster.launcher=ray"), /cluster\.launcher is ray/);
});

const eight = [
  ...alive,
  "env.train.total_num_envs=8",
  "actor.global_batch_size=8",
  "actor.micro_batch_size=1",
  "cluster.component_placement={env: 0, rollout: 0, actor: all}",
];
const ranks = (count: number) => `cluster.simulated_devices=${count}`;

for (const strategy of ["no_shard", "shard_grad_op", "full_shard"]) {
  test(`one actor rank and four (${strategy}) give the same losses to 1e-6 over five steps`, async () => {
    const sharding = `actor.fsdp_config.sharding_strategy=${strategy}`;
    const one = await play(grpo, [...eight, "runner.max_epochs=5", ranks(1)]);
    const four = await play(grpo, [...eight, "runner.max_epochs=5", ranks(4), sharding]);
    assert.equal(four.worlds.actor, 4);
    // Sums over batches of other sizes differ in their last bits.
    assertCloseMetrics(four.metrics, one.metrics, 1e-6);
  });
}

test("a run with a sharded optimizer goes on to the bit, and its checkpoint also fits one rank", async () => {
  const straight = await play(grpo, [...eight, "runner.max_epochs=3", ranks(2)]);
  const logs = newFolder();
  await play(grpo, [...eight, "runner.max_epochs=2", ranks(2)], logs);
  const resumed = await play(
    grpo,
    [...eight, "runner.max_epochs=3", "runner.resume_dir=auto", ranks(2)],
    logs,
  );
  assert.deepEqual(resumed.weights, straight.weights);
  assert.deepEqual(resumed.metrics, straight.metrics);
  const alone = newFolder();
  await play(grpo, [...eight, "runner.max_epochs=2", ranks(2)], alone);
  const single = await play(
    grpo,
    [...eight, "runner.max_epochs=3", "runner.resume_dir=auto", ranks(1)],
    alone,
  );
  assertCloseMetrics(single.metrics, straight.metrics, 1e-6);
});

test("16-bit weights learn through 32-bit masters, on one rank and on two, and resume to the bit", async () => {
  const half = [
    ...eight,
    "actor.model.precision=bf16",
    "actor.optim.lr=1e-5",
    "actor.optim.lr_warmup_steps=0",
  ];
  const straight = await play(grpo, [...half, "runner.max_epochs=3", ranks(1)]);
  const logs = newFolder();
  await play(grpo, [...half, "runner.max_epochs=2", ranks(1)], logs);
  const resumed = await play(
    grpo,
    [...half, "runner.max_epochs=3", "runner.resume_dir=auto", ranks(1)],
    logs,
  );
  assert.deepEqual(resumed.weights, straight.weights);
  const optimizer = (folder: string) => readSafetensors(join(folder, "actor", "optimizer.safetensors"));
  const masters = [...optimizer(straight.folder)].filter(([name]) => name.startsWith("master."));
  assert.ok(masters.length > 0);
  for (const [name, master] of masters) assert.equal(master.dtype, "float32", name);
});
