import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "#tensor";
import { testCheckpoint, testObservation } from "../../../test/support/prismatic-checkpoint.ts";
import { loadOpenVla, openVlaSettings } from "./index.ts";
import type { OpenVlaPolicy } from "./openvla-policy.ts";

const section = {
  model_type: "openvla",
  model_path: testCheckpoint(),
  precision: "fp32",
  add_value_head: true,
};
const load = (changes: object = {}): OpenVlaPolicy =>
  loadOpenVla(openVlaSettings.parse({ ...section, ...changes }));
const largestGap = (a: Tensor, b: Tensor): number => a.sub(b).abs().flatten().amax(0).item();

test("decoding with a cache and judging in one pass agree to rounding, padded or not", () => {
  const policy = load();
  for (const observation of [testObservation(3), testObservation(1)]) {
    const step = policy.act(observation, { mode: "sample", temperature: 1.3, topK: 40 });
    const judged = policy.evaluate(step, { temperature: 1.3, topK: 40 });
    assert.ok(largestGap(judged.logProbs, step.logProbs) < 1e-5);
    assert.ok(largestGap(judged.values!, step.values!) < 1e-5);
  }
});

test("the critic does not see the actions: it reads the prompt's last token", () => {
  const policy = load();
  const step = policy.act(testObservation(2), { mode: "greedy" });
  const other = { ...step.forwardInputs, action_tokens: step.forwardInputs.action_tokens!.flip([2]) };
  assert.equal(
    largestGap(policy.evaluate({ forwardInputs: other }).values!, policy.evaluate(step).values!),
    0,
  );
});

test("a later token depends on an earlier one, and not the other way round", () => {
  const policy = load();
  const step = policy.act(testObservation(1), { mode: "greedy" });
  const tokens = step.forwardInputs.action_tokens!;
  const firstId = policy.codec.tokens.firstId;
  const changed = tokens.clone();
  changed.narrow(2, 3, 1).fill_(firstId);
  const before = policy.evaluate(step).logProbs.toArray();
  const after = policy
    .evaluate({ forwardInputs: { ...step.forwardInputs, action_tokens: changed } })
    .logProbs.toArray();
  assert.deepEqual(after.slice(0, 3), before.slice(0, 3));
  assert.notDeepEqual(after.slice(4), before.slice(4));
});

test("learning layer by layer gives the gradients of one graph", () => {
  const [whole, layered] = [load(), load()];
  const step = whole.act(testObservation(2), { mode: "sample" });
  whole.learn(step, {}, (now) => now.logProbs.mean().add(now.values!.mean()));
  layered.learn(step, { checkpointing: true }, (now) => now.logProbs.mean().add(now.values!.mean()));
  const theirs = layered.module.namedParameters();
  for (const [name, { grad }] of whole.module.namedParameters()) {
    assert.equal(grad === null, theirs.get(name)!.grad === null, name);
    if (grad) assert.ok(largestGap(grad, theirs.get(name)!.grad!) < 1e-6, name);
  }
});

test("several images, chunks or proprioception are refused: OpenVLA has none", () => {
  for (const changes of [{ num_images_in_input: 2 }, { num_action_chunks: 8 }, { use_proprio: true }]) {
    assert.equal(openVlaSettings.safeParse({ ...section, ...changes }).success, false);
  }
});
