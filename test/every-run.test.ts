/** Every LIBERO and tabletop configuration of OpenVLA-OFT really trains (π0's have a test of their own): two steps of a tiny untrained policy, in the simulator, on the CPU. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { SearchPath, shippedConfigs } from "#config";
import { type Metrics, readMetricsFile } from "#metrics";
import { Run, readRun, silent, train } from "#training";
import { tinyCheckpoint, tinyOverrides } from "../src/training/test-run.ts";
import { liberoForTests } from "./libero-assets.ts";

const libero = await liberoForTests();
if (!libero.skip) process.env.REVERIE_HOME = dirname(libero.folder);
const simulated = new SearchPath([shippedConfigs])
  .options("")
  .filter((name) => /^(libero|tabletop)_\w+?_(grpo|ppo)_openvlaoft/.test(name) && !name.includes("evac"));

async function twoSteps(name: string): Promise<readonly Metrics[]> {
  const logs = mkdtempSync(join(tmpdir(), "reverie-every-"));
  const planned = await readRun(name, { overrides: ["cluster.simulated_devices=1"] });
  const { env, actor, algorithm } = planned.config;
  const suite = String(env.train.task_suite_name);
  const model = tinyCheckpoint([suite], String(actor.model.unnorm_key));
  const group = algorithm.adv_type === "grpo" ? 2 : 1;
  // One task is enough: compiling a scene takes longer than all else.
  const overrides = [
    ...tinyOverrides({ model, logs, group }),
    "env.train.task_id_filter=[0]",
    "env.eval.task_id_filter=[0]",
    "env.train.use_ordered_reset_state_ids=False",
  ];
  const run = await Run.open(await readRun(name, { overrides, requireFiles: true }), silent);
  await train(run);
  await run.close();
  const lines = readMetricsFile(join(logs, "metrics.jsonl")).map(({ metrics }) => metrics);
  for (const folder of [logs, model]) rmSync(folder, { recursive: true });
  return lines;
}

for (const name of simulated) {
  const skip = name.startsWith("libero") ? libero.skip : false;
  test(`${name} trains two steps`, { skip }, async () => {
    const metrics = await twoSteps(name);
    assert.equal(metrics.length, 2);
    for (const [label, value] of Object.entries(metrics[1] ?? {}))
      assert.ok(Number.isFinite(value) || label.endsWith("explained_variance"), `${label} is ${value}`);
    assert.ok((metrics[1]?.["env/num_trajectories"] ?? 0) > 0);
  });
}
