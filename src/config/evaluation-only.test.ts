/** Files that only evaluate, in the shape of RLinf's: no algorithm, no actor, no env.train. */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { families } from "../training/families.ts";
import { planRun, planText, readConfig } from "./index.ts";

const text = (model: string, more = ""): string => `
defaults:
  - env/libero_spatial@env.eval
  - model/${model}@rollout.model
  - override hydra/job_logging: stdout
cluster:
  num_nodes: 1
  component_placement:
    env,rollout: all
runner:
  task_type: embodied_eval
  logger:
    log_path: "results"
  only_eval: True
  val_check_interval: -1
env:
  group_name: "EnvGroup"
  eval:
    rollout_epoch: 2
    total_num_envs: 500
    max_episode_steps: 240
    max_steps_per_rollout_epoch: 240
    is_eval: True
rollout:
  enable_offload: False
  recompute_logprobs: False
  model:
    model_path: models/mine
${more}`;

function read(content: string, ...overrides: string[]) {
  const file = join(mkdtempSync(join(tmpdir(), "reverie-eval-file-")), "mine_eval.yaml");
  writeFileSync(file, content);
  return readConfig(file, { families, overrides });
}

test("a file without algorithm, actor and env.train is read, its policy that of rollout.model", async () => {
  const checked = await read(text("openvla_oft", "    unnorm_key: some_key\n    max_prompt_length: 77\n"));
  const { actor, env } = checked.config;
  assert.deepEqual(
    [actor.model.model_path, actor.model.unnorm_key, actor.model.max_prompt_length],
    ["models/mine", "some_key", 77],
  );
  assert.equal(env.eval?.total_num_envs, 500);
  const remarks = checked.problems.filter(({ severity }) => severity === "warning").map(({ path }) => path);
  assert.deepEqual(remarks, ["actor.model.model_path", "rollout.model.model_path"]);
});

test("its plan speaks of an evaluation, not of training", async () => {
  const plan = planText(planRun(await read(text("pi0_5"))));
  assert.match(plan, /openpi is evaluated in libero_spatial/);
  assert.match(plan, /2 passes over the starts, 500 slots at a time/);
  assert.doesNotMatch(plan, /training step|optimizer|actor /);
});

test("a mistake in it is told once, at the place that wrote it", async () => {
  await assert.rejects(read(text("openvla_oft"), "env.eval.total_num_envs=-3"), ({ message }: Error) => {
    assert.equal(message.match(/total_num_envs/g)?.length, 1, message);
    return true;
  });
  await assert.rejects(read(text("openvla_oft", "    unnorm_kee: x\n")), /actor\.model\.unnorm_kee: no such/);
});

test("settings of training that do not fit do not stop an evaluation", async () => {
  const odd = ["actor.global_batch_size=7", "env.train.total_num_envs=3"];
  const read = (...overrides: string[]) =>
    readConfig("tabletop_spatial_grpo_openvlaoft_mini", { families, overrides });
  await assert.rejects(read(...odd), /global_batch_size/);
  assert.equal((await read(...odd, "runner.only_eval=True")).config.runner.only_eval, true);
});

test("RLinf's own copy of the π0.5 network is understood as π0.5, other sizes are refused", async () => {
  const own = (expert: string) =>
    text(
      "pi0_5",
      `    model_type: openpi_rlinf
    openpi:
      task: eval
      model_action_dim: 32
      paligemma_variant: gemma_2b
      action_expert_variant: ${expert}
`,
    );
  const { config, problems } = await read(own("gemma_300m"));
  assert.equal(config.actor.model.model_type, "openpi");
  assert.match(
    problems.find(({ path }) => path === "actor.model.model_type")?.message ?? "",
    /"openpi_rlinf" is another name; understood as "openpi": the same network/,
  );
  await assert.rejects(read(own("gemma_2b")), /action_expert_variant: no such setting/);
});
