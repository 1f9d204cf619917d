import assert from "node:assert/strict";
import { test } from "node:test";
import type { BatchPlan } from "./batch.ts";
import type { RunConfig } from "./frame/index.ts";
import { deviceMemory, processMemory } from "./memory.ts";
import type { Placement } from "./placement.ts";

/** Only what the arithmetic reads. */
const config = (offload: boolean, shard = "full_shard", interval = 1) =>
  ({
    actor: {
      model: { precision: "bf16" },
      micro_batch_size: 2,
      enable_offload: offload,
      fsdp_config: { sharding_strategy: shard, reshard_after_forward: true },
    },
    rollout: { enable_offload: offload, pipeline_stage_num: 1 },
    env: { train: { enable_offload: offload } },
    runner: { weight_sync_interval: interval },
  }) as unknown as RunConfig;
const batch = { samplesPerAnswer: 4, slotsPerStage: 4 } as BatchPlan;
const ranks = { env: 1, rollout: 1, actor: 2 };
const feet = {
  policy: { parameters: 1e9, trainBytesPerSample: 1e9, deviceBytesPerSlot: 1e8 },
  env: { parameters: 0, deviceBytes: 3e9 },
};

test("an actor's shard is weights, gradients, moments and master copy over the ranks, and activations", () => {
  const { actor } = processMemory(config(true), batch, ranks, feet);
  // 2 + 2 + 8 + 4 bytes per parameter over 2 ranks, 2 samples of activations, 1.5 GB for the runtime
  assert.equal(actor, (1e9 * 16) / 2 + 2e9 + 1.5e9);
  const updates = processMemory(config(true, "shard_grad_op"), batch, ranks, feet).actor;
  assert.equal(updates, 1e9 * 4 + (1e9 * 12) / 2 + 2e9 + 1.5e9, "weights and gradients whole");
  assert.equal(processMemory(config(true, "no_shard"), batch, ranks, feet).actor, 1e9 * 16 + 2e9 + 1.5e9);
});

test("with low-rank training only the additions have gradients and moments", () => {
  const lora = { ...feet, policy: { ...feet.policy, trainableParameters: 1e7 } };
  assert.equal(processMemory(config(true), batch, ranks, lora).actor, (2e9 + 1.4e8) / 2 + 2e9 + 1.5e9);
});

test("offloaded components share a device one phase at a time, others add up", () => {
  const process = { rank: 0, node: 0, devices: [0] };
  const placement: Placement = new Map([
    ["env", [process]],
    ["rollout", [process]],
    ["actor", [process]],
  ]);
  const parts = { actor: 40, rollout: 10, env: 5, weights: 8 };
  assert.deepEqual(deviceMemory(config(true), placement, parts), [
    { device: 0, collecting: 15, training: 40, peak: 40 },
  ]);
  assert.deepEqual(deviceMemory(config(false, "full_shard", 2), placement, parts), [
    { device: 0, collecting: 55, training: 55, peak: 55 },
  ]);
  const shared = deviceMemory(config(false), placement, parts);
  assert.equal(shared[0]?.peak, 55 - 8, "weights that actor and rollout share count once");
});
