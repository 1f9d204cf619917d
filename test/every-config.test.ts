/** Every shipped configuration, with the placements that the seeds document, and what wrong ones are told. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { planRun, planText, readConfig, runFrame, SearchPath, shippedConfigs } from "#config";
import { environments, learnedEnvSettings } from "#envs";
import { policies } from "#policies";
import { worlds } from "#worlds";
import { families } from "../src/training/families.ts";

const sixteen = "cluster.simulated_devices=16";
const plan = async (name: string, ...overrides: string[]) =>
  planRun(await readConfig(name, { families, overrides }));
const skip = (name: string) =>
  name.includes("pi0") && !policies.has("openpi") ? "the π0 family is not here yet" : false;

/** The configurations that the five seed documents name. */
const seeds = [
  ...["opensora_libero_spatial_grpo_openvlaoft", "wan_libero_spatial_grpo_openvlaoft"],
  ...["libero_10_ppo_openvlaoft", "libero_10_grpo_openvlaoft", "libero_spatial_evac_grpo_openvlaoft"],
  ...["omnigibson_ppo_openvlaoft", "omnigibson_grpo_openvlaoft", "omnigibson_ppo_pi0"],
];
const shipped = new SearchPath([shippedConfigs]).options("");

test("the configurations of the seeds are all there", () => {
  assert.deepEqual(
    seeds.filter((name) => !shipped.includes(name)),
    [],
  );
});

for (const name of shipped) {
  test(`${name} makes a plan on 16 accelerators, without a remark but for what is not here`, {
    skip: skip(name),
  }, async () => {
    const made = await plan(name, sixteen);
    const absent = /on this machine|is validated \(--dry-run\) but cannot run yet/;
    const remarks = made.checked.problems.filter((each) => !absent.test(each.message));
    assert.deepEqual(remarks, []);
    assert.ok(Number.isInteger(made.batch.optimizerSteps) && made.batch.optimizerSteps > 0);
    assert.match(planText(made), /one training step/);
  });
}

test("no configuration films evaluations into the folder of training", async () => {
  for (const name of shipped.filter((each) => !skip(each))) {
    const { train, eval: evaluation } = (await plan(name, sixteen)).checked.config.env;
    const [trained, evaluated] = [train, evaluation].map((env) => env?.video_cfg?.video_base_dir);
    assert.match(String(trained), /\/video\/train$/, name);
    assert.match(String(evaluated), /\/video\/eval$/, name);
  }
});

test("a plan that cannot be played says so, and a run of it is refused before anything starts", async () => {
  for (const name of ["omnigibson_ppo_openvlaoft", "maniskill_ppo_openvlaoft"]) {
    assert.match(planText(await plan(name, sixteen)), /is validated \(--dry-run\) but cannot run yet/);
    const run = readConfig(name, { families, overrides: [sixteen], requireFiles: true });
    await assert.rejects(run, /env\.train\.env_type: .* is validated \(--dry-run\) but cannot run yet/);
  }
  assert.doesNotMatch(planText(await plan("libero_10_grpo_openvlaoft", sixteen)), /not played here/);
});

test("the three BEHAVIOR configurations of the guide act with its 14 numbers", async () => {
  for (const name of ["omnigibson_ppo_openvlaoft", "omnigibson_grpo_openvlaoft", "omnigibson_ppo_pi0"])
    assert.equal((await plan(name, sixteen)).checked.config.actor.model.action_dim, 14, name);
});

test("task descriptions that nobody reads are named as without effect", async () => {
  const path = "env.train.tasks.task_description_path";
  const { checked } = await plan("omnigibson_ppo_openvlaoft", sixteen, `${path}=tasks.jsonl`);
  const remark = checked.problems.find((each) => each.path === path && !each.message.includes("on this"));
  assert.match(remark?.message ?? "", /has no effect/);
});

test("EVAC's separate CLIP is named as without effect", async () => {
  const path = "env.train.world_model_cfg.params.img_cond_stage_config.params.abspath";
  const { checked } = await plan("libero_spatial_evac_grpo_openvlaoft", sixteen, `+${path}=open_clip.bin`);
  assert.match(checked.problems.find((each) => each.path === path)?.message ?? "", /has no effect/);
});

test("what asynchronous PPO and other methods of RLinf ask for is refused in their own words", async () => {
  const told = async (...overrides: string[]): Promise<string> =>
    plan("libero_10_ppo_openvlaoft", sixteen, ...overrides).then(
      () => "accepted",
      (error: Error) => error.message,
    );
  const asynchronous = await told(
    "algorithm.loss_type=decoupled_actor_critic",
    "+algorithm.staleness_threshold=1",
  );
  assert.match(asynchronous, /asynchronous PPO.*set algorithm\.loss_type=actor_critic/);
  assert.match(asynchronous, /staleness_threshold: belongs to asynchronous PPO/);
  assert.match(await told("algorithm.adv_type=embodied_sac"), /method of RLinf that is not here/);
  assert.match(await told("+runner.rtc={enabled: True}"), /real-time chunking/);
});

/** From the seeds' pages; the number of environments is raised where a page's placement has more workers than they have. */
const documented: [config: string, mode: string, overrides: string[]][] = [
  [
    "libero_10_grpo_openvlaoft",
    "hybrid",
    ["cluster.component_placement={env: 0-7, rollout: 8-15, actor: 0-15}", "rollout.pipeline_stage_num=2"],
  ],
  [
    "libero_10_ppo_openvlaoft",
    "hybrid",
    ["cluster.component_placement={env: 0-7, rollout: 8-15, actor: 0-15}", "rollout.pipeline_stage_num=2"],
  ],
  ["libero_10_grpo_openvlaoft", "shared", ["cluster.num_nodes=1"]],
  [
    "libero_10_grpo_openvlaoft",
    "separated",
    ["cluster.component_placement={env: 0-3, rollout: 4-7, actor: 8-15}"],
  ],
  [
    "libero_10_ppo_openvlaoft",
    "separated",
    ["cluster.component_placement={env: 0-3, rollout: 4-7, actor: 8-15}"],
  ],
  ["libero_spatial_evac_grpo_openvlaoft", "hybrid", []],
  [
    "libero_spatial_evac_grpo_openvlaoft",
    "separated",
    ["cluster.component_placement={env: 0-3, rollout: 4-7, actor: 8-15}"],
  ],
  ["omnigibson_ppo_openvlaoft", "hybrid", []],
  ["omnigibson_grpo_openvlaoft", "hybrid", []],
  [
    "omnigibson_grpo_openvlaoft",
    "separated",
    ["cluster.component_placement={env: 0-3, rollout: 4-7, actor: 8-15}"],
  ],
  [
    "omnigibson_ppo_openvlaoft",
    "shared",
    ["cluster.component_placement={env: all, rollout: all, actor: all}", "rollout.pipeline_stage_num=1"],
  ],
];
for (const [name, mode, overrides] of documented) {
  test(`${name} accepts its documented ${mode} placement`, async () => {
    assert.equal((await plan(name, sixteen, "cluster.num_nodes=2", ...overrides)).mode, mode);
  });
}

test("the arithmetic of OpenSora's step is that of the seed: 32768 samples, 4 optimizer steps", async () => {
  const { batch, checked } = await plan(
    "opensora_libero_spatial_grpo_openvlaoft",
    "cluster.simulated_devices=8",
  );
  assert.equal(batch.samples, 32768);
  assert.equal(batch.optimizerSteps, 4);
  assert.equal(batch.microBatches, 8192 / (32 * 8));
  assert.equal(
    checked.config.env.train.initial_image_path,
    "/path/to/model/RLinf-OpenSora-LIBERO-Spatial/dataset/",
  );
});

/** The keys of an object schema, or none. */
const keysOf = (schema: unknown) => Object.keys((schema as { shape?: Record<string, unknown> }).shape ?? {});

for (const name of ["opensora", "wan", "evac"]) {
  test(`every setting that ${name} and its environment read may stand in a file`, async () => {
    const section = await environments.get(`${name}_wm`);
    const known = [...keysOf(runFrame.shape.env.shape.train), ...keysOf(section.settings)];
    const read = [...keysOf(learnedEnvSettings), ...keysOf((await worlds.get(name)).settings)];
    assert.deepEqual(
      read.filter((key) => !known.includes(key)),
      [],
    );
  });
}

test("a shipped preset can be exchanged from the command line, in both spellings", async () => {
  for (const swap of ["env@env.train=libero_goal", "env/train=libero_goal"]) {
    const { checked } = await plan("libero_10_grpo_openvlaoft", sixteen, swap);
    assert.equal(checked.config.env.train.task_suite_name, "libero_goal");
    assert.equal(checked.config.env.eval?.task_suite_name, "libero_10");
  }
});

test("a component is moved, and an unwritten setting set, without a plus sign", async () => {
  const placed = ["env=0-7", "rollout=8-15", "actor=0-15"].map(
    (each) => `cluster.component_placement.${each}`,
  );
  const { mode, batch } = await plan(
    "libero_10_grpo_openvlaoft",
    sixteen,
    ...placed,
    "algorithm.update_epoch=2",
  );
  assert.equal(mode, "hybrid");
  assert.equal(batch.optimizerSteps, 8);
});

test("tabletop configurations plan on a machine without accelerators", async () => {
  const made = await plan("tabletop_spatial_grpo_openvlaoft_mini");
  assert.deepEqual(made.checked.ranks, { env: 1, rollout: 1, actor: 1 });
  assert.match(planText(made), /every worker runs on the CPU/);
});

/** What is wrong, and what the error must say. */
const mistakes: [overrides: string[], says: RegExp][] = [
  [["env.train.total_num_envs=60"], /command line: env\.train\.total_num_envs: 60 is not a multiple of 8/],
  [["algorithm.group_size=1"], /algorithm\.group_size: is 1, but grpo compares/],
  [["env.train.group_size=4"], /env\.train\.group_size: is 4, but algorithm\.group_size is 8/],
  [["env.train.auto_reset=true"], /env\.train\.auto_reset: is true, but grpo compares one episode per env/],
  [
    ["env.train.use_fixed_reset_state_ids=false"],
    /use_fixed_reset_state_ids: is false: every env would draw/,
  ],
  [
    ["algorithm.shuffle_within_groups=true"],
    /shuffle_within_groups says how shuffle_advantages mixes groups/,
  ],
  [["actor.global_batch_size=10000"], /actor\.global_batch_size: 10000 is not a multiple of 256/],
  [["actor.global_batch_size=12288"], /65536 samples per training step do not fill whole batches of 12288/],
  [["env.train.max_steps_per_rollout_epoch=500"], /500 is not a multiple of 8 \(actions per chunk\)/],
  [["algorithm.gama=0.9"], /algorithm\.gama: no such setting; did you mean gamma\?/],
  [["runner.max_epoch=1"], /there is no setting runner\.max_epoch; did you mean runner\.max_epochs\?/],
  [["+algorithm.gama=0.9"], /algorithm\.gama: no such setting; did you mean gamma\?/],
  [["+env.train.reset_griper_open=true"], /did you mean reset_gripper_open\?/],
  [["+rollout.pipelin_stage_num=2"], /did you mean pipeline_stage_num\?/],
  [["algorithm.clip_ratio_low=-1"], /algorithm\.clip_ratio_low: expected at least 0, found -1/],
  [["reward.use_reward_model=true"], /reward\.use_reward_model: is true, but there are no reward workers/],
  [["critic.use_critic_model=true"], /set actor\.model\.add_value_head instead/],
  [["env.train.override_cfg={seed: 3}"], /env\.train\.override_cfg: is not available/],
  [["env.train.libero_variant=plus"], /env\.train\.libero_variant: expected "standard", found "plus"/],
  [
    ["env.eval.perturbation_suffix=all", "runner.only_eval=true"],
    /env\.eval\.perturbation_suffix: expected null/,
  ],
  [
    [
      "algorithm.filter_rewards=true",
      "algorithm.rewards_lower_bound=0.9",
      "algorithm.rewards_upper_bound=0.1",
    ],
    /rewards_lower_bound: is 0\.9, above rewards_upper_bound 0\.1/,
  ],
  [["rollout.sampling_params.temperature_train=1e-30"], /1e-30 is no useful temperature: expected 0\.001 to/],
  [["rollout.sampling_params.temperature_eval=1e30"], /temperature_eval: 1e\+30 is no useful temperature/],
  [["runner.co_evolution.temperatures=[1, 1e9]"], /co_evolution\.temperatures: 1000000000 is no useful/],
  [["algorithm.adv_type=gae"], /algorithm\.loss_type: is actor, but gae measures .* against a critic/],
  [
    ["env.train.max_episode_steps=4"],
    /env\.train\.max_episode_steps: is 4, but the policy decides 8 actions/,
  ],
  [["env.train.settle_steps=1000000000"], /settle_steps: expected at most 1000, found 1000000000/],
  [["env.train.init_params.camera_heights=20000"], /camera_heights: expected at most 4096, found 20000/],
  [["actor.optim.lr=nan"], /actor\.optim\.lr: expected a number, found NaN/],
  [["actor.optim.lr=-inf"], /actor\.optim\.lr: expected a number, found -Infinity/],
  [["actor=3"], /command line: actor: expected a block of settings .*, found 3$/],
  [["~absent"], /there is no setting absent$/],
  [
    ["actor.optim.lr=abc", "runner.max_epochs=-3", "env.train.total_num_envs=7"],
    /has 5 errors:.*max_epochs: .*lr: .*total_num_envs: 7 is not/s,
  ],
  [["algorithm.adv_type=gae2"], /no algorithm .* named "gae2"; there are: gae, grpo/],
  [["algorithm.loss_type=actor_critic"], /algorithm\.loss_type: is actor_critic, but grpo has no critic/],
  [
    ["algorithm.adv_type=gae"],
    /algorithm\.loss_type: is actor, but gae measures advantages against a critic/,
  ],
  [
    ["algorithm.adv_type=gae", "algorithm.loss_type=actor_critic"],
    /actor\.model\.add_value_head: must be true/,
  ],
  [["algorithm.adv_type=rloo"], /algorithm\.normalize_advantages: no such setting/],
  [["actor.model.model_type=openvla2"], /no policy named "openvla2"/],
  [["env.train.task_suite_name=libero_11"], /env\.train\.task_suite_name: expected "tabletop_spatial" or/],
  [["cluster.component_placement={env: 0-99}"], /needs number 99, but the cluster has 8 accelerators/],
  [["runner.val_check_interval=10"], /runner\.save_interval: 25 is not a multiple of val_check_interval 10/],
  [
    ["actor.model.num_action_chunks=oops"],
    /actor\.model\.num_action_chunks: expected a whole number|number, found "oops"/,
  ],
];
for (const [overrides, says] of mistakes) {
  test(`${overrides.join(" ")} is refused before anything starts, with the reason`, async () => {
    await assert.rejects(
      plan("libero_10_grpo_openvlaoft", "cluster.simulated_devices=8", ...overrides),
      (error: Error) => {
        assert.equal(error.name, "UserError");
        assert.match(error.message, says);
        return true;
      },
    );
  });
}

test("settings that change nothing are named", async () => {
  const remarks = async (...overrides: string[]) =>
    (await plan("libero_10_grpo_openvlaoft", sixteen, ...overrides)).checked.problems.map(
      ({ path, message }) => `${path}: ${message}`,
    );
  const named = (lines: string[], pattern: RegExp) =>
    assert.ok(
      lines.some((line) => pattern.test(line)),
      lines.join("\n"),
    );
  named(
    await remarks("rollout.model.model_path=/another"),
    /rollout\.model\.model_path: has no effect: the policy that acts/,
  );
  named(await remarks("+algorithm.gamma=0.9"), /algorithm\.gamma: has no effect: grpo does not discount/);
  named(await remarks("+algorithm.value_clip=0.1"), /value_clip: has no effect: there is no critic to train/);
  named(await remarks("runner.max_epochs=0"), /runner\.max_epochs: is 0: nothing will be trained/);
  const ppo = await plan("libero_10_ppo_openvlaoft", sixteen, "+algorithm.resample_dead_groups=2");
  named(
    ppo.checked.problems.map(({ path, message }) => `${path}: ${message}`),
    /resample_dead_groups: has no effect: gae compares no groups/,
  );
  const pi = await plan("libero_10_ppo_openpi", sixteen, "rollout.sampling_params.temperature_train=1.6");
  named(
    pi.checked.problems.map(({ path, message }) => `${path}: ${message}`),
    /temperature_train: has no effect: this policy samples no tokens/,
  );
});

test("the plan says what top_k and the temperatures come to", async () => {
  const text = async (...overrides: string[]) =>
    planText(await plan("libero_10_grpo_openvlaoft", sixteen, ...overrides));
  assert.match(
    await text("rollout.sampling_params.top_k=0"),
    /actions: sampled from all tokens at temperature 1\.6/,
  );
  assert.match(
    await text("rollout.sampling_params.top_k=50", "rollout.sampling_params.temperature_eval=0"),
    /actions: sampled from the 50 most probable tokens at temperature 1\.6; in evaluations: the most probable/,
  );
});

test("ninety thousand unknown keys are refused in a message that fits the screen", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-config-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "many.yaml");
  const keys = Array.from({ length: 90_000 }, (_, i) => `k${i}: 1`).join("\n");
  writeFileSync(file, `defaults:\n  - libero_10_grpo_openvlaoft\n  - _self_\n${keys}\n`);
  await assert.rejects(plan(file), (error: Error) => {
    assert.match(error.message, /has 90000 errors:/);
    assert.match(error.message, /and 89970 more$/);
    assert.ok(error.message.length < 10_000, `${error.message.length} characters`);
    return true;
  });
});

test("a file that is no text is refused as such, by its name and by its bytes", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-config-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "torch.node"), Buffer.alloc(2000, "\x7fELF\0"));
  writeFileSync(join(folder, "binary.yaml"), Buffer.alloc(2000, "\x7fELF\0"));
  await assert.rejects(
    plan(join(folder, "torch.node")),
    /torch\.node is not a configuration: .* ends in \.yaml/,
  );
  await assert.rejects(plan(join(folder, "binary.yaml")), /binary\.yaml: not a text file/);
});

test("several mistakes are told at once, each with its file and line", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-config-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "mine.yaml");
  writeFileSync(
    file,
    "defaults:\n  - libero_10_grpo_openvlaoft\n  - _self_\nrunner:\n  max_epochs: many\nenv:\n  train:\n    nonsense: 1\n",
  );
  await assert.rejects(plan(file), (error: Error) => {
    assert.match(error.message, /has 2 errors/);
    assert.match(error.message, /mine\.yaml:5: runner\.max_epochs: expected/);
    assert.match(error.message, /mine\.yaml:8: env\.train\.nonsense: no such setting/);
    return true;
  });
});

test("a world whose chunk differs from the policy's is refused", async () => {
  const wrong = plan(
    "wan_libero_spatial_grpo_openvlaoft",
    sixteen,
    "env.train.chunk=4",
    "env.train.num_frames=9",
  );
  await assert.rejects(wrong, /env\.train\.chunk: is 4, but actor\.model\.num_action_chunks is 8/);
});

test("a critic whose value_type nobody wrote answers in the shape of the rewards", async () => {
  const { checked } = await plan("libero_10_ppo_openpi", sixteen, "~actor.model.value_type");
  assert.equal(checked.config.actor.model.value_type, "chunk_level");
});

test("files that are not there stop a run, but not a plan", async () => {
  const options = { families, overrides: [sixteen] };
  const { problems } = await readConfig("libero_10_grpo_openvlaoft", options);
  assert.ok(problems.some((each) => each.severity === "warning" && each.path === "actor.model.model_path"));
  const start = readConfig("libero_10_grpo_openvlaoft", { ...options, requireFiles: true });
  await assert.rejects(start, /actor\.model\.model_path: there is no .*Openvla-oft-SFT-libero10-traj1/);
});

test("a setting without effect is told, not obeyed in silence", async () => {
  const { checked } = await plan(
    "libero_10_grpo_openvlaoft",
    sixteen,
    "+algorithm.gamma=0.9",
    "rollout.sampling_params.top_p=0.9",
    "actor.fsdp_config.mixed_precision.param_dtype=fp32",
    "rollout.generation_backend=vllm",
  );
  const warnings = checked.problems
    .filter((each) => each.message.startsWith("has no effect"))
    .map((each) => each.path);
  assert.deepEqual(warnings.sort(), [
    "actor.fsdp_config.mixed_precision.param_dtype",
    "algorithm.gamma",
    "rollout.generation_backend",
    "rollout.sampling_params.top_p",
  ]);
});
