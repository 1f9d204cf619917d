/** `reverie eval` with a file in the shape of RLinf's evaluation files, as a user runs it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { tinyCheckpoint } from "../../test/support/tiny-run.ts";

const program = fileURLToPath(new URL("../../bin/reverie.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "reverie-eval-"));
after(() => rmSync(folder, { recursive: true }));
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
const file = join(folder, "mine_eval.yaml");
writeFileSync(
  file,
  `defaults:
  - env/tabletop_spatial@env.eval
  - model/openvla_oft_mini@rollout.model
cluster:
  num_nodes: 1
  component_placement:
    env,rollout: all
runner:
  task_type: embodied_eval
  logger: { log_path: "results", logger_backends: [] }
  only_eval: True
env:
  eval:
    total_num_envs: 8
    max_episode_steps: 8
    max_steps_per_rollout_epoch: 8
    task_id_filter: [0]
    env_workers: 0
    init_params: { camera_heights: 32, camera_widths: 32 }
    video_cfg: { save_video: False }
rollout:
  enable_offload: False
  model:
    model_path: ${model}
    precision: fp32
    unnorm_key: tabletop
`,
);
const reverie = (...args: string[]) =>
  spawnSync(process.execPath, [program, ...args], {
    encoding: "utf8",
    timeout: 300_000,
    env: { ...process.env, OMP_NUM_THREADS: "1" },
  });

test("an evaluation file without algorithm, actor and env.train is played", () => {
  const out = join(folder, "out");
  const { status, stdout, stderr } = reverie("eval", file, "--out", out, "--device", "cpu");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /tabletop_spatial, greedy, 1 pass/);
  assert.ok(existsSync(join(out, "results.json")));
});

test("reverie eval --dry-run prints the plan and starts nothing", () => {
  const out = join(folder, "unborn");
  const { status, stdout, stderr } = reverie("eval", file, "--dry-run", "--out", out, "--device", "cpu");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /openvla_oft is evaluated in tabletop_spatial/);
  assert.ok(!existsSync(out));
});
