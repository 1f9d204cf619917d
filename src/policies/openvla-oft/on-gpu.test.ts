/**
 * What only a GPU does: acting by captured graphs, and half precision through fused kernels. Without one, the second test
 * runs the plain operators in half precision on the CPU.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { initNormal } from "#nn";
import { cudaAvailable, Generator, type Tensor } from "#tensor";
import {
  temporaryFolder,
  testObservation,
  testStatistics,
  testTasks,
} from "../../../test/support/prismatic-checkpoint.ts";
import { writeFreshCheckpoint } from "./fresh.ts";
import { loadOft, oftSettings } from "./index.ts";
import type { OpenVlaOftPolicy } from "./oft-policy.ts";

const device = cudaAvailable() ? "cuda" : "cpu";
const skip = device === "cuda" ? false : "needs a GPU";

/** Wide enough for every kernel: heads of 32 numbers. */
function wideCheckpoint(): string {
  const folder = temporaryFolder();
  writeFreshCheckpoint(folder, {
    tasks: testTasks,
    normStats: testStatistics,
    unnormKey: "tabletop_no_noops",
    seed: 1,
    sizes: {
      image_size: 16,
      patch_size: 8,
      vision_width: 32,
      vision_depths: [3, 2],
      vision_heads: 2,
      text_width: 64,
      text_hidden: 96,
      text_layers: 3,
      text_heads: 2,
    },
  });
  return folder;
}

const checkpoint = wideCheckpoint();
const load = (changes: object, options: Parameters<typeof loadOft>[1] = {}): OpenVlaOftPolicy => {
  const section = { model_type: "openvla_oft", model_path: checkpoint, num_action_chunks: 3 };
  return loadOft(oftSettings.parse({ ...section, ...changes }), { device, ...options });
};
const distance = (a: Tensor, b: Tensor): number => {
  const [x, y] = [a.detach().cpu().float(), b.detach().cpu().float()];
  return x.sub(y).norm().item() / Math.max(y.norm().item(), 1e-12);
};

for (const changes of [{}, { implement_version: "official" }, { is_lora: true, lora_rank: 4 }]) {
  test(`captured graphs act as the plain pass does: ${JSON.stringify(changes)}`, { skip }, () => {
    const [plain, captured] = [false, true].map((cudaGraphs) =>
      load({ precision: "fp32", add_value_head: true, ...changes }, { cudaGraphs }),
    ) as [OpenVlaOftPolicy, OpenVlaOftPolicy];
    for (const seed of [1, 2, 3, 4, 5]) {
      const act = (policy: OpenVlaOftPolicy) =>
        policy.act(testObservation(3, seed), { mode: "sample", generator: [1, 2, 3].map(generatorOf) });
      const [expected, actual] = [act(plain), act(captured)];
      for (const part of ["actions", "logProbs", "values"] as const)
        assert.ok(distance(actual[part]!, expected[part]!) < 1e-4, `${part}, seed ${seed}`);
    }
  });
}

const generatorOf = (seed: number): Generator => new Generator(seed);

for (const changes of [{}, { is_lora: true, lora_rank: 4 }])
  test(`gradients in bfloat16 point where those in float32 do: ${JSON.stringify(changes)}`, () => {
    const exact = load({ precision: "fp32", ...changes }, { device: "cpu" });
    const rounded = load({ precision: "bf16", ...changes });
    const generator = new Generator(3);
    for (const [name, weight] of exact.module.namedParameters())
      if (name.endsWith("lora_B.weight")) initNormal(weight, 0.05, generator); // they begin at zero
    rounded.module.loadState(exact.module.state());
    const step = exact.act(testObservation(3), { mode: "sample", generator: new Generator(7) });
    for (const policy of [exact, rounded])
      policy.learn(step, { checkpointing: true }, (now) => now.logProbs.mean().neg());
    const ours = rounded.module.namedParameters();
    let compared = 0;
    for (const [name, { grad }] of exact.module.namedParameters()) {
      const other = ours.get(name)!.grad;
      assert.equal(other === null, grad === null, name);
      if (!grad || !other || grad.norm().item() < 1e-6) continue;
      compared++;
      const off = distance(other, grad);
      assert.ok(off < 0.15, `${name} is off by ${off}`);
    }
    assert.ok(compared > 20, `only ${compared} gradients were compared`);
  });
