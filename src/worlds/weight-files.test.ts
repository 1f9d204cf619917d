import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { worlds } from "./index.ts";

const shipped = fileURLToPath(new URL("../../checkpoints/opensora-tabletop-object", import.meta.url));

/** The OpenSora guide's older layout: `…/base_policy/model` is a folder, and the statistics lie beside it. */
for (const [what, config] of [
  ["inside", "model/config.json"],
  ["beside", "config.json"],
] as const) {
  test(`an OpenSora world whose weights are a folder is read, its description ${what} it`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "reverie-world-layout-"));
    context.after(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "model"));
    cpSync(join(shipped, "model-00001.safetensors"), join(folder, "model", "model-00001.safetensors"));
    cpSync(join(shipped, "config.json"), join(folder, config));
    const family = await worlds.get("opensora");
    const block = {
      opensora_wm_hf_ckpt_path: shipped,
      world_model_cfg: { image_size: [64, 64], model: { from_pretrained: join(folder, "model") } },
    };
    const world = await family.load(family.settings.parse(block), { device: "cpu" });
    assert.equal(world.chunk, 8);
  });
}
