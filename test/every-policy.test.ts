/** What every registered policy family must do, whatever its network: run over all of them. */
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { test } from "node:test";
import { loadPolicy, type Policy, policies } from "#policies";
import { Generator, liveTensors, type Tensor } from "#tensor";
import { testPi0Checkpoint, testSection } from "./support/pi0-checkpoint.ts";
import { temporaryFolder, testCheckpoint, testObservation } from "./support/prismatic-checkpoint.ts";

/** A config's model section for a tiny checkpoint of each family, and how closely judging repeats acting. */
interface Sample {
  readonly model: Readonly<Record<string, unknown>>;
  /** 0: to the bit. Families that decode step by step judge in one pass, with other matrix shapes. */
  readonly repeats: number;
}

const samples: Readonly<Record<string, () => Sample>> = {
  openvla_oft: () => ({
    model: { model_path: testCheckpoint(), precision: "fp32", add_value_head: true, num_action_chunks: 4 },
    repeats: 0,
  }),
  openvla: () => ({
    model: { model_path: testCheckpoint(), precision: "fp32", add_value_head: true },
    repeats: 1e-5,
  }),
  openpi: () => ({ model: testSection(testPi0Checkpoint()), repeats: 0 }),
};

const actionSpec = { size: 7, gripper: "minus_one_opens" } as const;
const gap = (a: Tensor, b: Tensor): number => a.sub(b).abs().flatten().amax(0).item();

test("every registered family is tried here", () => {
  assert.deepEqual(Object.keys(samples).sort(), policies.names());
});

for (const [name, sampleOf] of Object.entries(samples)) {
  const { model, repeats } = sampleOf();
  const load = (): Promise<Policy> => loadPolicy({ model_type: name, ...model }, { actionSpec });

  test(`${name}: acting answers in the promised shapes and in float32`, async () => {
    const policy = await load();
    const step = policy.act(testObservation(3), { mode: "sample", generator: new Generator(1) });
    assert.deepEqual(step.actions.shape, [3, policy.chunk, policy.actionSize]);
    assert.deepEqual(step.logProbs.shape, step.actions.shape);
    assert.deepEqual(step.values?.shape, [3, policy.valueCount]);
    for (const tensor of [step.actions, step.logProbs, step.values!]) assert.equal(tensor.dtype, "float32");
    for (const [field, tensor] of Object.entries(step.forwardInputs)) assert.equal(tensor.size(0), 3, field);
  });

  test(`${name}: judging a recorded step repeats its numbers`, async () => {
    const policy = await load();
    const sampling = { temperature: 1.6, topK: 30 };
    const step = policy.act(testObservation(3), { mode: "sample", ...sampling });
    const judged = policy.evaluate(step, { ...sampling, entropy: "learned" });
    assert.ok(gap(judged.logProbs, step.logProbs) <= repeats);
    assert.ok(gap(judged.values!, step.values!) <= repeats);
    assert.ok((judged.entropy?.toArray() ?? []).every((nats) => nats >= 0));
  });

  test(`${name}: the same seed samples the same actions, another seed others; greedy needs none`, async () => {
    const policy = await load();
    const act = (seed: number) =>
      policy.act(testObservation(2), { mode: "sample", generator: new Generator(seed) }).actions.toArray();
    assert.deepEqual(act(5), act(5));
    assert.notDeepEqual(act(5), act(6));
    const greedy = () => policy.act(testObservation(2), { mode: "greedy" }).actions.toArray();
    assert.deepEqual(greedy(), greedy());
  });

  test(`${name}: learning fills gradients, and the loss of demonstrations falls along them`, async () => {
    const policy = await load();
    const observation = testObservation(2);
    const { actions } = policy.act(observation, { mode: "sample", generator: new Generator(2) });
    const sample = { forwardInputs: policy.label(observation, actions) };
    const loss = () => policy.supervisedLoss(sample, { generator: new Generator(3) });
    const before = loss();
    before.backward();
    for (const weight of policy.module.parameters()) {
      const { grad } = weight;
      if (grad) weight.detach().sub_(grad.mul(0.02));
    }
    assert.ok(loss().item() < before.item());
  });

  test(`${name}: acting leaves nothing behind but its answer`, async () => {
    const policy = await load();
    const observation = testObservation(2);
    const once = () => {
      const step = policy.act(observation, { mode: "sample" });
      for (const tensor of [
        step.actions,
        step.logProbs,
        step.values!,
        ...Object.values(step.forwardInputs),
      ]) {
        tensor.dispose();
      }
    };
    once();
    const before = liveTensors();
    once();
    assert.equal(liveTensors(), before);
  });

  test(`${name}: what is saved loads again and acts the same`, async () => {
    const policy = await load();
    const folder = temporaryFolder();
    await policy.save(folder);
    const again = await loadPolicy({ model_type: name, ...model, model_path: folder }, { actionSpec });
    const act = (one: Policy) => one.act(testObservation(2), { mode: "greedy" });
    assert.equal(gap(act(policy).actions, act(again).actions), 0);
    assert.equal(gap(act(policy).values!, act(again).values!), 0);
  });

  test(`${name}: a policy whose folder is gone saves a folder that loads`, async () => {
    const [from, folder] = [temporaryFolder(), temporaryFolder()];
    cpSync(`${model.model_path}`, from, { recursive: true });
    const section = { model_type: name, ...model };
    const policy = await loadPolicy({ ...section, model_path: from }, { actionSpec });
    const { actions } = policy.act(testObservation(2), { mode: "greedy" });
    rmSync(from, { recursive: true }); // as a resumed run deletes the checkpoint that it began from
    await policy.save(folder);
    const again = await loadPolicy({ ...section, model_path: folder }, { actionSpec });
    assert.equal(gap(again.act(testObservation(2), { mode: "greedy" }).actions, actions), 0);
  });

  test(`${name}: a wrong key in the model section is refused by name`, async () => {
    await assert.rejects(loadPolicy({ model_type: name, ...model, modle_path: "x" }), /modle_path/);
  });
}

test("an unknown model_type lists the families there are", async () => {
  await assert.rejects(loadPolicy({ model_type: "gpt" }), /no policy named "gpt"; there are: .*openvla/);
  await assert.rejects(loadPolicy({}), /no model_type/);
});
