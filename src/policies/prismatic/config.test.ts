import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrismaticConfig } from "./config.ts";

/** As in published files: only what differs from the defaults is there. */
const published = {
  model_type: "openvla",
  timm_model_ids: ["vit_large_patch14_reg4_dinov2.lvd142m", "vit_so400m_patch14_siglip_224"],
  image_sizes: [224, 224],
  text_config: { model_type: "llama", vocab_size: 32064, torch_dtype: "bfloat16", pad_token_id: 32000 },
};

test("a published config is completed with Llama-2 7B's and the towers' sizes", () => {
  const config = parsePrismaticConfig(published, "config.json");
  assert.equal(config.text.hidden_size, 4096);
  assert.equal(config.text.num_hidden_layers, 32);
  assert.equal(config.text.rms_norm_eps, 1e-6);
  assert.equal(config.vision[0].depth, 24);
  assert.equal(config.vision[1].embed_dim, 1152);
  assert.equal(config.patches, 256);
  assert.equal(config.vocabulary, 32000);
});

test("dataset_statistics.json wins over the config's own statistics", () => {
  const stats = (q01: number) => ({ suite: { action: { q01: [q01], q99: [1] } } });
  const config = parsePrismaticConfig({ ...published, norm_stats: stats(-1) }, "config.json", stats(-5));
  assert.deepEqual(config.normStats.suite?.action.q01, [-5]);
});

test("an unknown tower is refused by name, with those that are known", () => {
  const raw = { ...published, timm_model_ids: ["vit_huge", "vit_so400m_patch14_siglip_224"] };
  assert.throws(
    () => parsePrismaticConfig(raw, "c.json"),
    /c\.json: vision tower "vit_huge" is unknown; known: vit_large/,
  );
});

test("a setting we do not implement is refused with the file and the place", () => {
  const raw = { ...published, text_config: { ...published.text_config, attention_bias: true } };
  assert.throws(
    () => parsePrismaticConfig(raw, "c.json"),
    /c\.json is not a configuration[\s\S]*text_config\.attention_bias/,
  );
});

test("towers whose grids differ are refused", () => {
  const raw = { ...published, image_sizes: [224, 112] };
  assert.throws(() => parsePrismaticConfig(raw, "c.json"), /do not give both towers the same whole grid/);
});

test("a hundred million layers are refused before one of them is built", () => {
  const many = { ...published, text_config: { ...published.text_config, num_hidden_layers: 100_000_000 } };
  assert.throws(
    () => parsePrismaticConfig(many, "config.json"),
    /config\.json is not a configuration .*<=1000/s,
  );
});
