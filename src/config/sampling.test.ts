import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunConfig } from "./frame/index.ts";
import { rolloutFrame } from "./frame/rollout.ts";
import { samplingMode } from "./sampling.ts";

const mode = (sampling_params: Record<string, unknown>, phase: "train" | "eval") => {
  const rollout = rolloutFrame.parse({ model: { model_path: "x" }, sampling_params });
  return samplingMode({ rollout } as unknown as RunConfig, phase);
};

test("the seeds' reinforcement-learned policies sample at 1.6 in training and evaluation", () => {
  const params = { do_sample: true, temperature_train: 1.6, temperature_eval: 1.6, top_k: -1 };
  assert.deepEqual(mode(params, "train"), { mode: "sample", temperature: 1.6, topK: 0 });
  assert.deepEqual(mode(params, "eval"), { mode: "sample", temperature: 1.6, topK: 0 });
});

test("do_sample: False is greedy in evaluation too, whatever the temperature", () => {
  assert.equal(mode({ do_sample: false, temperature_eval: 1.6 }, "eval").mode, "greedy");
  assert.equal(mode({ do_sample: false, temperature_train: 1 }, "train").mode, "greedy");
});

test("without temperatures training samples at 1 and evaluation is greedy", () => {
  assert.deepEqual(mode({ top_k: 50 }, "train"), { mode: "sample", temperature: 1, topK: 50 });
  assert.equal(mode({}, "eval").mode, "greedy");
});

test("one temperature for both is enough", () => {
  assert.equal(mode({ temperature: 0.7 }, "eval").temperature, 0.7);
  assert.equal(mode({ temperature: 0.7, temperature_train: 1.2 }, "train").temperature, 1.2);
});
