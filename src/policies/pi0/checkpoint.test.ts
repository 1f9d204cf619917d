import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSafetensors, writeSafetensors } from "#formats";
import { type Tensor, zeros } from "#tensor";
import { testPi0Checkpoint, testSection } from "../../../test/support/pi0-checkpoint.ts";
import { temporaryFolder, testObservation } from "../../../test/support/prismatic-checkpoint.ts";
import { loadPi0, pi0Settings } from "./index.ts";
import type { Pi0Policy } from "./pi0-policy.ts";
import { ourName, tied } from "./weights.ts";

const checkpoint = testPi0Checkpoint();
const load = (openpi: object = {}, changes: object = {}, options = {}): Pi0Policy =>
  loadPi0(pi0Settings.parse({ ...testSection(checkpoint, openpi), ...changes }), options);
const gap = (a: Tensor, b: Tensor): number => a.sub(b).abs().flatten().amax(0).item();

test("a saved policy has the published layout, and a trained critic and noise come back with it", async () => {
  const folder = temporaryFolder();
  const openpi = { noise_method: "flow_noise", joint_logprob: true };
  const policy = load(openpi, {}, { seed: 3 });
  await policy.save(folder);
  for (const file of ["model.safetensors", "config.json", "tokenizer.json"])
    assert.ok(existsSync(join(folder, file)), file);
  assert.ok(existsSync(join(folder, "assets/physical-intelligence/maniskill/norm_stats.json")));
  const again = loadPi0(pi0Settings.parse({ ...testSection(folder, openpi) }), { seed: 4 });
  const step = policy.act(testObservation(2), { mode: "sample" });
  assert.equal(gap(again.evaluate(step).logProbs, step.logProbs), 0);
  assert.equal(gap(again.evaluate(step).values!, step.values!), 0);
});

test("files of other exporters load: LeRobot's prefix, and the word embeddings under their other name", async () => {
  const folder = testPi0Checkpoint();
  const file = join(folder, "model.safetensors");
  const [embeddings, head] = Object.entries(tied)[0]!;
  const renamed = [...readSafetensors(file)].map(([name, value]): [string, Tensor] => [
    `model.${name === head ? embeddings : name}`,
    value.clone(),
  ]);
  writeSafetensors(file, new Map(renamed));
  const other = loadPi0(pi0Settings.parse(testSection(folder)));
  const act = (policy: Pi0Policy) => policy.act(testObservation(1), { mode: "greedy" }).actions;
  assert.equal(gap(act(other), act(load())), 0);
  assert.equal(
    ourName("model.paligemma_with_expert.paligemma.language_model.model.layers.0.mlp.up_proj.weight"),
    "paligemma_with_expert.paligemma.model.language_model.layers.0.mlp.up_proj.weight",
  );
  const eyes = "paligemma_with_expert.paligemma.model.vision_tower.vision_model.post_layernorm.bias";
  assert.equal(ourName(eyes.replace("paligemma.model.", "paligemma.")), eyes);
  assert.equal(ourName("paligemma_with_expert.paligemma.language_model.lm_head.weight"), head);
});

test("bad wishes are refused with what was found and what was expected", () => {
  assert.throws(() => load({}, { model_path: "/nowhere" }), /no checkpoint folder at \/nowhere/);
  assert.throws(() => load({ config_name: "pi0_moon" }), /pi0_libero/);
  assert.throws(
    () => load({ asset_id: "mine/own" }),
    /no norm_stats\.json at .*there are statistics in .*maniskill/,
  );
  assert.throws(() => load({}, { num_action_chunks: 9 }), /num_action_chunks is 9 and the model answers 6/);
  assert.throws(() => load({}, { action_dim: 8 }), /action_dim is 8 and the statistics describe 7/);
  assert.throws(() => load({ num_steps: 9 }), /num_steps is 3 and openpi\.num_steps is 9/);
  assert.throws(() => load({ use_dsrl: true }), /DSRL is not implemented/);
  assert.throws(() => load({ extra_delta_transform: true }), /the state's first six numbers, .* describe 2/);
  assert.throws(() => load({ pi05: true }), /is a π0 configuration, and pi05 is set to true/);
  const spec = { actionSpec: { size: 14, gripper: "as_is" } };
  assert.throws(() => load({}, {}, spec), /7 numbers per action .* takes 14/);
  const act = (openpi: object) => load(openpi).act(testObservation(1), { mode: "greedy" });
  assert.throws(() => act({ num_images_in_input: 3 }), /reads 3 pictures .* shows 2/);
  assert.throws(() => act({ max_token_len: 4 }), /tokens and the model reads 4/);
  const blind = { ...testObservation(1), states: zeros([1, 5]) };
  assert.throws(() => load().act(blind, { mode: "greedy" }), /describe 2 numbers of state .* gives 5/);
});

test("damaged checkpoints are refused by file and key", () => {
  const folder = testPi0Checkpoint();
  const open = () => loadPi0(pi0Settings.parse(testSection(folder)));
  const file = join(folder, "model.safetensors");
  const bytes = readFileSync(file);
  const change = (edit: (weights: Map<string, Tensor>) => void) => {
    writeFileSync(file, bytes);
    const weights = new Map([...readSafetensors(file)].map(([name, value]) => [name, value.clone()]));
    edit(weights);
    writeSafetensors(file, weights);
  };
  truncateSync(file, bytes.length - 100);
  assert.throws(open, /model\.safetensors/);
  change((weights) => weights.delete("state_proj.weight"));
  assert.throws(open, /1 keys are missing[\s\S]*state_proj\.weight/);
  change((weights) => weights.set("action_in_proj.bias", zeros([3])));
  assert.throws(open, /action_in_proj\.bias: expected \[12\], found \[3\]/);
  change((weights) => weights.set("time_mlp_in.weight", zeros([3])));
  assert.throws(open, /1 keys are not expected[\s\S]*time_mlp_in\.weight/);
  writeSafetensors(file, new Map([["other", zeros([1])]]));
  assert.throws(open, /holds none of π0's weights; its first is "other"/);
  writeFileSync(file, bytes);
  rmSync(join(folder, "tokenizer.json"));
  assert.throws(() => open().act(testObservation(1), { mode: "greedy" }), /has no tokenizer\.json/);
});
