import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ForwardInputs } from "#data";
import { readSafetensors, writeSafetensors } from "#formats";
import { liveTensors, type Tensor } from "#tensor";
import { needsShared, sharedFolder } from "../../../test/shared.ts";
import {
  temporaryFolder,
  testCheckpoint,
  testObservation,
} from "../../../test/support/prismatic-checkpoint.ts";
import { mergeAdapters } from "../lora.ts";
import { parsePrismaticConfig } from "../prismatic/config.ts";
import { loadOft, oftSettings } from "./index.ts";
import { OpenVlaOftModel } from "./model.ts";
import type { OpenVlaOftPolicy } from "./oft-policy.ts";

const checkpoint = testCheckpoint();
const section = {
  model_type: "openvla_oft",
  model_path: checkpoint,
  precision: "fp32",
  num_action_chunks: 3,
};

const load = (changes: object = {}, options = {}): OpenVlaOftPolicy =>
  loadOft(oftSettings.parse({ ...section, ...changes }), options);

const gradients = (policy: OpenVlaOftPolicy): Map<string, number[]> =>
  new Map(
    [...policy.module.namedParameters()].flatMap(([name, { grad }]) =>
      grad ? [[name, grad.toArray()]] : [],
    ),
  );

const largestGap = (a: Tensor, b: Tensor): number => a.sub(b).abs().flatten().amax(0).item();

test("the critic has one value per chunk or one per action, as value_type says", () => {
  const perAction = load({ add_value_head: true }).act(testObservation(2), { mode: "sample" });
  assert.deepEqual(perAction.values?.shape, [2, 3]);
  const perChunk = load({ add_value_head: true, value_type: "chunk_level" }).act(testObservation(2), {
    mode: "sample",
  });
  assert.deepEqual(perChunk.values?.shape, [2, 1]);
});

test("cutting common padding changes no log-probability beyond rounding", () => {
  const step = load().act(testObservation(3), { mode: "sample" });
  const trimmed = load().evaluate(step).logProbs;
  const whole = load({ trim_padding: false }).evaluate(step).logProbs;
  assert.ok(largestGap(trimmed, whole) < 1e-5);
});

test("learning layer by layer gives the gradients of one graph", () => {
  for (const changes of [
    {},
    { implement_version: "official" },
    { freeze_vision: true },
    { is_lora: true, lora_rank: 2 },
  ]) {
    const settings = { add_value_head: true, num_images_in_input: 2, ...changes };
    const [whole, layered] = [load(settings), load(settings)];
    const step = whole.act(testObservation(2), { mode: "sample" });
    for (const [policy, checkpointing] of [
      [whole, false],
      [layered, true],
    ] as const) {
      policy.learn(step, { entropy: "learned", checkpointing }, (now) =>
        now.logProbs.mean().sub(now.values!.square().mean()).add(now.entropy!.mean()),
      );
    }
    const [expected, actual] = [gradients(whole), gradients(layered)];
    assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort());
    for (const [name, numbers] of expected) {
      const worst = Math.max(...numbers.map((number, i) => Math.abs(number - actual.get(name)![i]!)));
      assert.ok(worst < 1e-6, `${name} differs by ${worst}`);
    }
  }
});

test("learning and acting leave no tensor behind", () => {
  const policy = load({ add_value_head: true });
  const step = policy.act(testObservation(2), { mode: "sample" });
  const learn = (checkpointing: boolean) =>
    policy.learn(step, { checkpointing }, (now) => now.logProbs.mean());
  learn(false); // the first pass makes the gradients
  const before = liveTensors();
  learn(false);
  learn(true);
  assert.equal(liveTensors(), before);
});

test("a frozen backbone is remembered: its features are recorded and its weights get no gradient", () => {
  const policy = load({ freeze_vision: true });
  const step = policy.act(testObservation(2), { mode: "sample" });
  const { vision_features: features, ...rest } = step.forwardInputs as Record<string, Tensor>;
  assert.deepEqual(features?.shape, [2, 4, 32]);
  const blind = { ...step, forwardInputs: { ...rest } as ForwardInputs };
  assert.equal(largestGap(policy.evaluate(step).logProbs, policy.evaluate(blind).logProbs), 0);
  policy.learn(step, {}, (now) => now.logProbs.mean());
  assert.ok([...gradients(policy).keys()].every((name) => !name.startsWith("vision_backbone")));
});

test("a fresh adapter changes nothing, trains alone with the critic, and merges into the base's names", () => {
  const plain = load({ add_value_head: true });
  const adapted = load({ add_value_head: true, is_lora: true, lora_rank: 2 });
  const step = plain.act(testObservation(2), { mode: "sample" });
  assert.equal(largestGap(plain.evaluate(step).logProbs, adapted.evaluate(step).logProbs), 0);
  adapted.learn(step, {}, (now) => now.logProbs.mean().add(now.values!.mean()));
  const trained = [...gradients(adapted).keys()];
  assert.ok(trained.length > 0 && trained.every((name) => /\.lora_[AB]\.weight$|^value_head\./.test(name)));
  mergeAdapters(adapted.module);
  assert.deepEqual([...adapted.module.namedParameters().keys()], [...plain.module.namedParameters().keys()]);
});

test("a saved adapter, with its critic, acts like the one in memory", async () => {
  const trained = load({ add_value_head: true, is_lora: true, lora_rank: 2 });
  for (const [name, weight] of trained.module.namedParameters())
    if (name.includes("lora_B")) weight.detach().fill_(0.1);
  const folder = temporaryFolder();
  await trained.save(folder);
  assert.equal(JSON.parse(readFileSync(join(folder, "adapter_config.json"), "utf8")).r, 2);
  const again = load({ add_value_head: true, is_lora: true, lora_path: folder }, { seed: 7 });
  const step = trained.act(testObservation(2), { mode: "greedy" });
  const back = again.evaluate(step);
  assert.equal(largestGap(back.logProbs, step.logProbs), 0);
  assert.equal(largestGap(back.values!, step.values!), 0);
});

test("a saved policy loads again, with its tokenizer and statistics", async () => {
  const folder = temporaryFolder();
  await load({ add_value_head: true }).save(folder);
  const again = load({ model_path: folder, add_value_head: true });
  const first = load({ add_value_head: true }).act(testObservation(2), { mode: "greedy" });
  const second = again.act(testObservation(2), { mode: "greedy" });
  assert.equal(largestGap(first.actions, second.actions), 0);
  assert.equal(largestGap(first.values!, second.values!), 0);
});

test("labels of demonstrations decode to the demonstrated actions, gripper included", () => {
  const policy = load({}, { actionSpec: { size: 7, gripper: "minus_one_opens" } });
  const step = policy.act(testObservation(2), { mode: "sample" });
  const ids = policy.label(testObservation(2), step.actions).action_tokens!;
  assert.ok(largestGap(policy.codec.decode(ids.flatten(1)), step.actions) < 1e-6);
  assert.ok(
    policy.supervisedLoss({ forwardInputs: policy.label(testObservation(2), step.actions) }).item() > 0,
  );
});

test("the gripper answers in the environment's sign", () => {
  const libero = load({}, { actionSpec: { size: 7, gripper: "minus_one_opens" } });
  const grippers = libero.act(testObservation(3), { mode: "sample" }).actions.select(2, 6).toArray();
  assert.ok(grippers.every((value) => Math.abs(value) === 1));
});

test("proprioception is normalized, clipped, and demanded in the right size", () => {
  const settings = { implement_version: "official", use_proprio: true, proprio_dim: 2 };
  const file = "proprio_projector--9_checkpoint.pt";
  assert.ok(!existsSync(join(checkpoint, file)));
  assert.throws(() => load(settings), /keys are missing[\s\S]*proprio_projector\.fc1\.weight/);
  assert.throws(() => load({ ...settings, proprio_dim: 3 }), /proprio_dim is 3 .* describe 2 numbers/);
});

test("bad wishes are refused with what was found and what was expected", () => {
  assert.throws(() => load({ model_path: "/nowhere" }), /no checkpoint folder at \/nowhere/);
  assert.throws(() => load({ unnorm_key: "bridge" }), /"bridge"; there are: tabletop_no_noops/);
  assert.throws(() => load({ action_dim: 5 }), /action_dim is 5 and the statistics .* describe 7/);
  assert.throws(
    () => load({}, { actionSpec: { size: 14, gripper: "as_is" } }),
    /7 numbers per action .* takes 14/,
  );
  assert.throws(() => load({ use_film: true }), /use_film is set in the model section/);
  const act = (changes: object) => load(changes).act(testObservation(1), { mode: "greedy" });
  assert.throws(() => act({ num_images_in_input: 3 }), /reads 3 pictures .* shows 2/);
  assert.throws(
    () => act({ max_prompt_length: 4 }),
    /max_prompt_length is 4; set actor\.model\.max_prompt_length=/,
  );
});

test("damaged checkpoints are refused by file and key", () => {
  const folder = testCheckpoint();
  const file = join(folder, "model.safetensors");
  const bytes = readFileSync(file);
  const weights = () => new Map([...readSafetensors(file)].map(([name, value]) => [name, value.clone()]));
  truncateSync(file, bytes.length - 100);
  assert.throws(() => load({ model_path: folder }), /model\.safetensors/);

  writeFileSync(file, bytes);
  const missing = weights();
  missing.delete("projector.fc1.weight");
  writeSafetensors(file, missing);
  assert.throws(() => load({ model_path: folder }), /1 keys are missing[\s\S]*projector\.fc1\.weight/);

  writeFileSync(file, bytes);
  const misshapen = weights().set(
    "projector.fc1.bias",
    readSafetensors(file).get("projector.fc2.bias")!.clone(),
  );
  writeSafetensors(file, misshapen);
  assert.throws(() => load({ model_path: folder }), /projector\.fc1\.bias: expected \[128\], found \[16\]/);

  writeFileSync(file, bytes);
  const film = weights().set(
    "vision_backbone.featurizer.blocks.0.scale.weight",
    readSafetensors(file).get("projector.fc2.bias")!.clone(),
  );
  writeSafetensors(file, film);
  assert.throws(
    () => load({ model_path: folder }),
    /FiLM layers \(vision_backbone\.featurizer\.blocks\.0\.scale/,
  );

  rmSync(join(folder, "tokenizer.json"));
  writeFileSync(file, bytes);
  const deaf = load({ model_path: folder });
  assert.throws(() => deaf.act(testObservation(1), { mode: "greedy" }), /has no tokenizer\.json/);
});

test("at full size, every key and shape of the published checkpoint is ours", { skip: needsShared() }, () => {
  const path = `${sharedFolder()}/spec/policies/openvla_oft_keys.json`;
  const published = JSON.parse(readFileSync(path, "utf8")) as Record<string, number[]>;
  const config = parsePrismaticConfig({ text_config: { vocab_size: 32064 } }, "published");
  const shape = { variant: "rlinf", actionTokens: 56, values: 8, proprio: 0, endId: 2 } as const;
  const model = new OpenVlaOftModel(config, shape, { device: "meta", dtype: "bfloat16" });
  const ours = Object.fromEntries([...model.namedParameters()].map(([name, weight]) => [name, weight.shape]));
  assert.deepEqual(ours, published);
});
