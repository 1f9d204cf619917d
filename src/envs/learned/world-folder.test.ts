import assert from "node:assert/strict";
import { test } from "node:test";
import { withWorldFolder, worldFolder } from "./world-folder.ts";

test("a block's world folder is found for every family", () => {
  assert.equal(worldFolder({ opensora_wm_hf_ckpt_path: "worlds/a/" }), "worlds/a");
  assert.equal(worldFolder({ wan_wm_hf_ckpt_path: "worlds/b" }), "worlds/b");
  assert.equal(worldFolder({ world_model_cfg: { pretrained_checkpoint: ["worlds/c/m.pt"] } }), "worlds/c");
  assert.equal(worldFolder({ initial_image_path: "elsewhere" }), undefined);
});

test("every path in the folder moves, and no other text", () => {
  const block = {
    opensora_wm_hf_ckpt_path: "worlds/a",
    initial_image_path: "worlds/a/dataset/",
    judges: ["worlds/a/second.pth", "worlds/abc/third.pth"],
    world_model_cfg: { stats_path: "worlds/a/stats.json", chunk: 8, fps: null },
  };
  assert.deepEqual(withWorldFolder(block, "worlds/a/", "run/worlds/1"), {
    opensora_wm_hf_ckpt_path: "run/worlds/1",
    initial_image_path: "run/worlds/1/dataset/",
    judges: ["run/worlds/1/second.pth", "worlds/abc/third.pth"],
    world_model_cfg: { stats_path: "run/worlds/1/stats.json", chunk: 8, fps: null },
  });
});
