/** Weights spread over actor ranks (full_shard): the same learning, in a fraction of the memory. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Metrics, readMetricsFile } from "#metrics";
import { arange, type Tensor } from "#tensor";
import { assertCloseMetrics } from "../../test/support/close.ts";
import { pi0Overrides, testPi0Checkpoint } from "../../test/support/pi0-checkpoint.ts";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { listCheckpoints } from "./checkpoint/folder.ts";
import { readRun } from "./read-run.ts";
import { silent } from "./reporter.ts";
import { Run } from "./run.ts";
import { checkpointRoot } from "./run-folder/places.ts";
import { train } from "./train.ts";

const grpo = "tabletop_spatial_grpo_openvlaoft_mini";
const ppo = "tabletop_spatial_ppo_openvlaoft_mini";
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-sharded-"));
const ranks = (count: number) => [
  `cluster.simulated_devices=${count}`,
  "cluster.component_placement={env: 0, rollout: 0, actor: all}",
];
const strategy = (name: string) => `actor.fsdp_config.sharding_strategy=${name}`;
/** An untrained policy never succeeds; an entropy bonus gives it a gradient all the same. */
const alive = [
  "algorithm.entropy_bonus=0.01",
  "algorithm.filter_rewards=False",
  "actor.optim.lr_warmup_steps=0",
];

interface Case {
  readonly config: string;
  readonly overrides: readonly string[];
  readonly model?: string;
}

async function open({ config, overrides, model: path = model }: Case, logs = newFolder()): Promise<Run> {
  const all = [...tinyOverrides({ model: path, logs }), "actor.micro_batch_size=1", ...alive, ...overrides];
  return Run.open(await readRun(config, { overrides: all }), silent);
}

/** Samples in the order of the rollout: a rank's share of a minibatch is known. */
async function openInOrder(count: number): Promise<{ crew: Run["crew"]; close: () => Promise<void> }> {
  const overrides = [
    ...ranks(count),
    strategy("full_shard"),
    "actor.global_batch_size=8",
    "algorithm.shuffle_rollout=False",
  ];
  const run = await open({ config: grpo, overrides });
  return { crew: run.crew, close: () => run.close() };
}

/** The numbers of every step without times, and the last weights. */
async function play(what: Case, logs = newFolder()): Promise<{ metrics: Metrics[]; weights: Buffer }> {
  const run = await open(what, logs);
  await train(run);
  await run.close();
  const timeless = (metrics: Metrics): Metrics =>
    Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith("time/")));
  const { folder } = listCheckpoints(checkpointRoot(run.checked)).at(-1)!;
  const file = what.overrides.some((each) => /is_lora/.test(each)) ? "adapter_model" : "model";
  return {
    metrics: readMetricsFile(join(logs, "metrics.jsonl")).map(({ metrics }) => timeless(metrics)),
    weights: readFileSync(join(folder, "actor", "model", `${file}.safetensors`)),
  };
}

test("of four ranks each holds a quarter of the weights, and little more while it learns", async (context) => {
  const large = tinyCheckpoint(["tabletop_spatial"], "tabletop", 1, {
    text_width: 64,
    text_hidden: 128,
    text_layers: 8,
  });
  const run = await open({
    config: grpo,
    model: large,
    overrides: [
      ...ranks(4),
      strategy("full_shard"),
      "env.train.total_num_envs=8",
      "actor.global_batch_size=8",
    ],
  });
  context.after(() => run.close());
  const { crew } = run;
  const { first, others } = crew.actors;
  const whole = first.policy.module.parameters().reduce((sum, { byteLength }) => sum + byteLength, 0);
  await crew.syncWeights(0);
  assert.ok(first.memory.isWhole);
  await crew.learn(await crew.advantages(await crew.collect(0), 0), 0);
  assert.ok(!first.memory.isWhole);
  const sizes = [
    first.memory.weightBytes,
    ...(await Promise.all(others.map((actor) => actor.call("weightBytes")))),
  ];
  for (const { now, peak } of sizes) {
    assert.ok(Math.abs(now / whole - 0.25) < 0.02, `${now} of ${whole} bytes`);
    assert.ok(peak / whole < 0.75, `at most ${peak} of ${whole} bytes`); // the quarter, and the largest layer
  }
  const weights = first.policy.module.parameters();
  const isAway = (weight: Tensor): boolean => weight.strides.every((stride) => stride === 0);
  assert.ok(weights.every(isAway), "what is away has no memory of its own");
  await crew.makeWhole();
  assert.ok(
    first.memory.isWhole && weights.every((weight) => weight.isContiguous && weight.isfinite().all().item()),
  );
});

test("ranks with unequal numbers of live samples learn what one rank learns", async () => {
  const learn = async (count: number): Promise<Metrics> => {
    const { crew, ...run } = await openInOrder(count);
    await crew.syncWeights(0);
    const { samples, metrics } = await crew.advantages(await crew.collect(0), 0);
    // Of eight samples the first three live: three passes on the first rank, where the second has but one to go along.
    const live = arange(0, 8)
      .lt(3)
      .unsqueeze(1)
      .expand([-1, samples.logProbs.size(1)])
      .contiguous();
    const learned = await crew.learn({ samples: { ...samples, mask: live }, metrics }, 0);
    await run.close();
    return learned.metrics;
  };
  assertCloseMetrics([await learn(2)], [await learn(1)], 1e-6);
});

test("a rank that fails ends the others at once, and what it says is told", async (context) => {
  const run = await open({ config: grpo, overrides: [...ranks(2), strategy("full_shard")] });
  context.after(() => run.close());
  const { crew } = run;
  await crew.syncWeights(0);
  const { samples, metrics } = await crew.advantages(await crew.collect(0), 0);
  const began = performance.now();
  const { policy } = crew.actors.first;
  policy.learn = () => {
    throw new Error("this rank has a bad day");
  };
  await assert.rejects(crew.learn({ samples, metrics }, 0), /this rank has a bad day/);
  assert.ok(performance.now() - began < 30_000);
});

const pi0 = testPi0Checkpoint();

const cases: readonly (readonly [string, Case])[] = [
  [
    "adapters over frozen weights",
    { config: grpo, overrides: ["actor.model.is_lora=True", "actor.model.lora_rank=2"] },
  ],
  [
    "a critic that warms up",
    { config: ppo, overrides: ["algorithm.group_size=1", "actor.optim.critic_warmup_steps=3"] },
  ],
  [
    "OpenVLA",
    {
      config: grpo,
      overrides: [
        "model@actor.model=openvla",
        "actor.model.unnorm_key=tabletop",
        "actor.model.precision=fp32",
        "env.train.max_episode_steps=2",
        "env.train.max_steps_per_rollout_epoch=2",
      ],
    },
  ],
  [
    "π0's expert",
    {
      config: ppo,
      model: pi0,
      overrides: [...pi0Overrides(), "algorithm.group_size=1", "actor.model.add_value_head=True"],
    },
  ],
  [
    "π0 as a whole",
    {
      config: ppo,
      model: pi0,
      overrides: [
        ...pi0Overrides(),
        "algorithm.group_size=1",
        "actor.model.add_value_head=True",
        "actor.model.openpi.train_expert_only=False",
      ],
    },
  ],
];
for (const [what, each] of cases) {
  test(`${what}: two ranks that shard learn what one rank learns`, async () => {
    const overrides = (count: number) => [...each.overrides, ...ranks(count), strategy("full_shard")];
    const one = await play({ ...each, overrides: overrides(1) });
    const two = await play({ ...each, overrides: overrides(2) });
    assert.ok(one.metrics.some((metrics) => metrics["train/actor/grad_norm"]! > 0));
    assertCloseMetrics(two.metrics, one.metrics, 1e-5); // Adam makes whole steps of the smallest gradients
  });
}

test("16-bit weights learn the same bits with and without sharded layers", async () => {
  const learn = (name: string) =>
    play({
      config: grpo,
      overrides: [
        ...ranks(2),
        strategy(name),
        "actor.model.precision=bf16",
        "actor.micro_batch_size=2",
        "actor.fsdp_config.gradient_checkpointing=True",
      ],
    });
  const [sharded, kept] = [await learn("full_shard"), await learn("shard_grad_op")];
  assert.deepEqual(sharded.metrics, kept.metrics);
  assert.ok(sharded.weights.equals(kept.weights));
});

const strategies = ["full_shard", "no_shard"] as const;
for (const [from, to] of [strategies, [...strategies].reverse()] as const) {
  test(`a run of two ranks goes on from ${from} to ${to}`, async () => {
    const logs = newFolder();
    const run = (steps: number, name: string, ...more: string[]) => ({
      config: grpo,
      overrides: [
        ...ranks(2),
        strategy(name),
        `runner.max_epochs=${steps}`,
        "++actor.optim.total_training_steps=3",
        ...more,
      ],
    });
    const straight = await play(run(3, from));
    await play(run(2, from), logs);
    const resumed = await play(run(3, to, "runner.resume_dir=auto"), logs);
    assertCloseMetrics(resumed.metrics, straight.metrics, 1e-6);
  });
}
