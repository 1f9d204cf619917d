/** Models that leave the accelerator between phases change nothing but the memory. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { algorithms } from "#algorithms";
import type { Minibatch } from "#data";
import { environmentFamily } from "#envs";
import type { Metrics } from "#metrics";
import { RandomStream } from "#random";
import { cudaAvailable } from "#tensor";
import { ActorWorker, openPolicy } from "#workers";
import type { OffloadFigures, OffloadOrder } from "../../test/support/offload-run.ts";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { batchOf } from "./assemble.ts";
import { readRun } from "./read-run.ts";
import { silent } from "./reporter.ts";
import { Run } from "./run.ts";

const noCuda = cudaAvailable() ? false : "needs a CUDA build of libtorch and a GPU";
const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
const grpo = "tabletop_spatial_grpo_openvlaoft_mini";
const alive = [
  "algorithm.entropy_bonus=0.01",
  "algorithm.filter_rewards=False",
  "actor.model.precision=bf16",
];
const program = fileURLToPath(new URL("../../test/support/offload-run.ts", import.meta.url));
const newFolder = (): string => mkdtempSync(join(tmpdir(), "reverie-offload-"));

async function readTiny(...overrides: string[]) {
  return readRun(grpo, {
    overrides: [...tinyOverrides({ model, logs: newFolder() }), ...alive, ...overrides],
  });
}

async function someSamples(): Promise<Minibatch> {
  const run = await Run.open(await readTiny(), silent);
  await run.crew.syncWeights(0);
  const { samples } = await run.crew.advantages(await run.crew.collect(0), 0);
  await run.close();
  return samples;
}

test("an actor that leaves between updates learns what one that stays learns, to the bit", async () => {
  const samples = await someSamples();
  const learn = async (leaves: "optimizer" | "everything" | undefined) => {
    const checked = await readTiny();
    const { config } = checked;
    const actionSpec = (await environmentFamily(config.env.train)).actions(config.env.train);
    const actor = new ActorWorker({
      policy: await openPolicy({ config, actionSpec }, { device: "cpu" }),
      algorithm: (await algorithms.get(config.algorithm.adv_type)).open(config.algorithm),
      config,
      rank: 0,
      worldSize: 1,
      runSteps: 3,
      decisions: batchOf(checked).decisions,
      leaves,
      shuffle: RandomStream.ofRun(0).branch("shuffle"),
    });
    const metrics: Metrics[] = [];
    actor.memory.rest();
    for (const step of [0, 1, 2]) metrics.push((await actor.learn(samples, step)).metrics);
    const weights = actor.policy.module.parameters();
    let moments = 0;
    await actor.lendState((state) => {
      moments = state.size;
    });
    return {
      metrics,
      moments,
      away: actor.memory.bytesAway,
      weights: weights.map((weight) => weight.toArray()),
    };
  };
  const [stays, leaves, goes] = [await learn(undefined), await learn("optimizer"), await learn("everything")];
  assert.ok(stays.metrics[2]!["train/actor/grad_norm"]! > 0);
  const { away: _, ...expected } = stays;
  for (const { away, ...found } of [leaves, goes]) {
    assert.deepEqual(found, expected);
    assert.ok(away > 0);
  }
  assert.ok(goes.away > leaves.away);
});

/** Big enough for its weights to be seen in the memory: about 30 million of them. */
const wide = { text_width: 512, text_hidden: 1376, text_layers: 8, text_heads: 8 };

for (const interval of [1, 2]) {
  const whose = interval === 1 ? "a policy that acts and learns" : "an actor and a rollout copy of its own";
  test(`on the accelerator ${whose}: less memory with offload, and the same weights`, {
    skip: noCuda,
  }, () => {
    const large = tinyCheckpoint(["tabletop_spatial"], "tabletop", 1, wide);
    const play = (offload: boolean): OffloadFigures => {
      const order: OffloadOrder = {
        config: grpo,
        model: large,
        overrides: [
          ...alive,
          `runner.weight_sync_interval=${interval}`,
          `actor.enable_offload=${offload}`,
          `rollout.enable_offload=${offload}`,
        ],
      };
      const words = execFileSync(process.execPath, ["--import", "tsx", program, JSON.stringify(order)]);
      return JSON.parse(words.toString().trim().split("\n").at(-1) ?? "") as OffloadFigures;
    };
    const [stays, again, leaves] = [play(false), play(false), play(true)];
    console.log(
      `${whose}: MB before collecting ${stays.resting / 1e6} → ${leaves.resting / 1e6}, peak ${stays.peak / 1e6} → ${leaves.peak / 1e6}`,
    );
    for (const [i, loss] of leaves.losses.entries()) assert.ok(Math.abs(loss! - stays.losses[i]!) <= 1e-6);
    const repeats = again.weights === stays.weights; // some kernels add in no fixed order
    assert.ok(!repeats || leaves.weights === stays.weights);
    assert.ok(leaves.resting < stays.resting / 2);
    assert.ok(leaves.peak <= 1.01 * stays.peak); // at its highest, in an update, everything is there either way
  });
}
