/** π0 in the whole machine: an untrained policy of a few thousand weights, trained in the simulator by PPO and by GRPO. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readMetricsFile } from "#metrics";
import { listCheckpoints } from "../src/training/checkpoint/folder.ts";
import { readRun } from "../src/training/read-run.ts";
import { silent } from "../src/training/reporter.ts";
import { Run } from "../src/training/run.ts";
import { checkpointRoot } from "../src/training/run-folder/places.ts";
import { train } from "../src/training/train.ts";
import { pi0Overrides, testPi0Checkpoint } from "./support/pi0-checkpoint.ts";
import { tinyOverrides } from "./support/tiny-run.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-pi0-"));

const model = testPi0Checkpoint();
const ourModel = pi0Overrides();

async function play(config: string, overrides: readonly string[]) {
  const logs = newFolder();
  const checked = await readRun(config, {
    overrides: [...ourModel, ...tinyOverrides({ model, logs }), ...overrides],
  });
  const run = await Run.open(checked, silent);
  await train(run);
  await run.close();
  const { folder } = listCheckpoints(checkpointRoot(checked)).at(-1)!;
  return {
    metrics: readMetricsFile(join(logs, "metrics.jsonl")).map(({ metrics }) => metrics),
    weights: readFileSync(join(folder, "actor", "model", "model.safetensors")),
  };
}

test("π0 trains by PPO: the first ratio is one, the critic and the expert learn", async () => {
  const { metrics, weights } = await play("tabletop_spatial_ppo_openvlaoft_mini", [
    "actor.model.add_value_head=True",
  ]);
  assert.equal(metrics.length, 2);
  assert.ok(Math.abs(metrics[0]!["train/actor/ratio"]! - 1) < 1e-5);
  assert.ok(metrics[0]!["train/critic/value_loss"]! > 0 && metrics[0]!["train/actor/grad_norm"]! > 0);
  assert.notDeepEqual(weights, readFileSync(join(model, "model.safetensors")));
});

test("π0 trains by GRPO with learned noise, whose entropy is a number of its own", async () => {
  const { metrics } = await play("tabletop_spatial_grpo_openvlaoft_mini", [
    "actor.model.openpi.noise_method=flow_noise",
    "actor.model.openpi.joint_logprob=True",
    "algorithm.entropy_bonus=0.01",
    "algorithm.filter_rewards=False",
  ]);
  assert.ok(metrics[0]!["train/actor/grad_norm"]! > 0);
  assert.notEqual(metrics[0]!["train/actor/entropy_loss"], 0);
});
