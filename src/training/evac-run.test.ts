/** A whole small run inside a toy EVAC world, which learns along once: simulator, policy, world, judge, all real. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readMetricsFile } from "#metrics";
import { openDemonstrations } from "#recordings";
import { tinyCheckpoint } from "../../test/support/tiny-run.ts";
import { toyWorld } from "../../test/support/toy-world.ts";
import { evacAutoencoderSettings, trainEvacAutoencoder } from "../world-training/evac/autoencoder.ts";
import { trainEvacDenoiser } from "../world-training/evac/denoiser.ts";
import { evacDenoiserSettings } from "../world-training/evac/settings.ts";
import { RecordedFrames } from "../world-training/frames/recorded-frames.ts";
import { writeStarts } from "../world-training/frames/starts.ts";
import { rewardModelSettings, trainRewardModel } from "../world-training/reward-model/training.ts";
import { readRun } from "./read-run.ts";
import { silent } from "./reporter.ts";
import { Run } from "./run.ts";
import { train } from "./train.ts";

const suite = "tabletop_object";
const configuration = "evac_tabletop_object_grpo_openvlaoft_mini";

async function toyEvacWorld(data: string): Promise<string> {
  const world = mkdtempSync(join(tmpdir(), "reverie-toy-evac-"));
  const frames = new RecordedFrames([openDemonstrations(data)], "cpu");
  const brief = { steps: 3, batch_size: 4, lr: 1e-3, lr_warmup_steps: 1, ema_decay: 0 };
  const vae = { ch: 8, ch_mult: [1, 1, 1], norm_num_groups: 4, z_channels: 4 };
  await trainEvacAutoencoder(frames, evacAutoencoderSettings.parse({ ...brief, ...vae }), world);
  const small = { model_channels: 32, context_dim: 16, clip_width: 16, predictor_steps: 20 };
  await trainEvacDenoiser(frames, evacDenoiserSettings.parse({ ...brief, ...small }), world);
  await trainRewardModel(frames, rewardModelSettings.parse({ ...brief, widths: [4, 4, 4, 4] }), world);
  writeStarts(frames, world, { count: 12 });
  return world;
}

test("a policy learns two steps inside an EVAC world, and a copy of the world learns from what the policy did in its dream", async () => {
  const { data } = await toyWorld(suite, 12);
  const world = await toyEvacWorld(data);
  const model = tinyCheckpoint([suite], "tabletop");
  const logs = mkdtempSync(join(tmpdir(), "reverie-run-"));
  const overrides = [
    "cluster.simulated_devices=1",
    "runner.max_epochs=2",
    `runner.logger.log_path=${logs}`,
    `actor.model.model_path=${model}`,
    `rollout.model.model_path=${model}`,
    "actor.global_batch_size=8",
    "actor.micro_batch_size=4",
    "algorithm.group_size=2",
    "algorithm.filter_rewards=False",
    "env.train.total_num_envs=4",
    "env.train.rollout_epoch=1",
    "env.train.max_episode_steps=16",
    "env.train.max_steps_per_rollout_epoch=16",
    "env.train.sample_size=[16,16]",
    `env.train.evac_wm_hf_ckpt_path=${world}`,
    "env.eval.total_num_envs=2",
    "env.eval.max_episode_steps=16",
    "env.eval.max_steps_per_rollout_epoch=16",
    "env.eval.init_params.camera_heights=16",
    "env.eval.init_params.camera_widths=16",
    "env.eval.env_workers=0",
    "runner.co_evolution.enabled=True",
    "runner.co_evolution.interval=1",
    "runner.co_evolution.episodes=6",
    "runner.co_evolution.exam_episodes=6",
    "runner.co_evolution.workers=2",
    "runner.co_evolution.acted_in=dream",
    `runner.co_evolution.data=[${data}]`,
    "runner.co_evolution.refresh.steps=1",
    "runner.co_evolution.refresh.judge_steps=1",
    "runner.co_evolution.refresh.batch_size=4",
    "runner.co_evolution.refresh.tolerance=1",
  ];
  const before = readFileSync(join(world, "evac.ckpt"));
  const run = await Run.open(await readRun(configuration, { overrides, requireFiles: true }), silent);
  await train(run);
  await run.close();
  const steps = readMetricsFile(join(logs, "metrics.jsonl"));
  assert.equal(steps.length, 2);
  for (const { metrics } of steps) assert.ok(Number.isFinite(metrics["train/actor/total_loss"]));
  assert.deepEqual(readFileSync(join(world, "evac.ckpt")), before);
  const worlds = join(logs, configuration, "co-evolution", "worlds");
  assert.deepEqual(readdirSync(worlds).sort(), ["step_0", "step_1"]);
  assert.notDeepEqual(readFileSync(join(worlds, "step_1", "evac.ckpt")), before);
  const round = join(logs, configuration, "co-evolution", "rounds", "step_1");
  const [played, exam] = ["played", "exam"].map((part) => openDemonstrations(join(round, part)));
  assert.equal(played!.info.settings.world, join(worlds, "step_0"));
  assert.equal(exam!.info.settings.world, undefined);
  const whole = Number(exam!.info.settings.steps);
  assert.ok(exam!.episodes.every(({ length }) => length === whole)); // they go on after a success
});
