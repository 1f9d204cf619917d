/** Tiny π0 and π0.5 checkpoints for tests, written to a temporary folder that the operating system forgets. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeJsonFile, writeSafetensors } from "#formats";
import { initNormal } from "#nn";
import { Generator } from "#tensor";
import { resolveConfig } from "../../src/policies/pi0/config.ts";
import { Pi0Model } from "../../src/policies/pi0/model.ts";
import { storedWeights } from "../../src/policies/pi0/weights.ts";
import { trainTokenizer } from "../../src/policies/prismatic/train-tokenizer.ts";
import { temporaryFolder, testTasks } from "./prismatic-checkpoint.ts";

const gemma = (width: number) => ({
  width,
  depth: 2,
  mlp_dim: 24,
  num_heads: 2,
  num_kv_heads: 1,
  head_dim: 8,
});

const config = {
  action_dim: 8,
  action_horizon: 6,
  max_token_len: 40,
  tiny: {
    vlm: gemma(16),
    expert: gemma(12),
    vision: {
      hidden_size: 16,
      intermediate_size: 24,
      num_hidden_layers: 2,
      num_attention_heads: 2,
      patch_size: 8,
      image_size: 16,
    },
    vocab_size: 512,
  },
};

const spread = (count: number, value: number): number[] =>
  Array.from({ length: count }, (_, i) => value + i / 10);
const statistics = (count: number) => ({
  mean: spread(count, -0.1),
  std: spread(count, 0.4),
  q01: spread(count, -1),
  q99: spread(count, 0.5),
});

export const testStatistics = { norm_stats: { state: statistics(2), actions: statistics(7) } };

/** Two layers per tower, seven real numbers of eight per action, two numbers of state. */
export function testPi0Checkpoint(configName = "pi0_maniskill", seed = 1): string {
  const folder = temporaryFolder();
  const resolved = resolveConfig(configName, {}, config, "the test's config");
  const module = new Pi0Model(resolved, { critic: "none", noise: false });
  const generator = new Generator(seed);
  for (const weight of module.parameters()) initNormal(weight, weight.ndim > 1 ? 0.2 : 0.05, generator);
  const { weights, metadata } = storedWeights(module, "float32");
  writeSafetensors(join(folder, "model.safetensors"), weights, metadata);
  writeJsonFile(join(folder, "config.json"), config);
  writeJsonFile(join(folder, "tokenizer.json"), trainTokenizer([...testTasks], 512));
  const assets = join(folder, "assets", resolved.asset_id);
  mkdirSync(assets, { recursive: true });
  writeJsonFile(join(assets, "norm_stats.json"), testStatistics);
  module.dispose();
  return folder;
}

/** A model section for a checkpoint of `testPi0Checkpoint`. */
export const testSection = (folder: string, openpi: object = {}) => ({
  model_type: "openpi",
  model_path: folder,
  precision: "fp32",
  num_action_chunks: 4,
  num_steps: 3,
  add_value_head: true,
  openpi: { config_name: "pi0_maniskill", ...openpi },
});

/** A run with such a policy, with statistics of the tabletop's eight numbers of state and seven of action. */
export function pi0Overrides(): string[] {
  const of = (count: number) => ({ mean: Array(count).fill(0), std: Array(count).fill(0.3) });
  const path = join(temporaryFolder(), "our_stats.json");
  writeJsonFile(path, { norm_stats: { state: of(8), actions: of(7) } });
  return [
    "model@actor.model=pi0",
    "actor.model.precision=fp32",
    "actor.model.num_action_chunks=4",
    "actor.model.num_steps=3",
    "actor.model.openpi.config_name=pi0_maniskill",
    "actor.model.openpi.num_images_in_input=1",
    "actor.model.openpi.max_token_len=120",
    `actor.model.openpi_data={norm_stats_path: ${path}}`,
  ];
}
