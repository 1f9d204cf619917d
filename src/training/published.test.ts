import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { shippedConfigs } from "#config";
import { needsShared, sharedFolder } from "../../test/shared.ts";
import { published, publishedAt, whereToGet } from "./published.ts";
import { readRun } from "./read-run.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/checkpoints.md", import.meta.url)), "utf8");

test("every published name is in the table of docs/checkpoints.md, with its size", () => {
  for (const { name, what, gigabytes } of published)
    assert.ok(page.includes(`| \`${name}\` | ${what} | ${gigabytes} GB |`), name);
});

test("every name that the guides download is known", { skip: needsShared() }, () => {
  const folder = join(sharedFolder() ?? "", "seeds");
  const pages = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  const downloads = /(?:huggingface\.co\/|hf download )((?:datasets\/)?[\w-]+\/[\w.-]+)/g;
  const named = new Set(pages.flatMap((text) => [...text.matchAll(downloads)].map(([, name]) => name)));
  assert.ok(named.size >= 15, `${named.size}`);
  const known = published.map(({ name }) => name);
  assert.deepEqual(
    [...named].filter((name) => !known.includes(name ?? "")),
    [],
  );
});

test("every place-holder of our configurations leads to a command or to the list", () => {
  const files = readdirSync(shippedConfigs, { recursive: true, encoding: "utf8" });
  const texts = files.filter((file) => file.endsWith(".yaml")).map((file) => join(shippedConfigs, file));
  const paths = texts.flatMap((file) => readFileSync(file, "utf8").match(/\/path\/to\/[^\s"]+/g) ?? []);
  assert.ok(paths.length > 20);
  for (const path of paths) assert.notEqual(whereToGet(path), undefined, path);
});

test("a missing model, world or file of a world is reported once, with the command that brings it", async () => {
  const refused = readRun("wan_libero_spatial_grpo_openvlaoft", {
    overrides: ["cluster.simulated_devices=8"],
    requireFiles: true,
  });
  await assert.rejects(refused, ({ message }: Error) => {
    assert.match(message, /model_path: .*reverie fetch Haozhan72\/Openvla-oft-SFT-libero-spatial-traj1/);
    assert.match(message, /wan_wm_hf_ckpt_path: .*reverie fetch RLinf\/RLinf-Wan-LIBERO-Spatial/);
    assert.doesNotMatch(message, /VAE_path/);
    return true;
  });
});

test("the guides' spellings of a path are recognized, and other paths are left alone", () => {
  assert.equal(
    publishedAt("/Pathto/model/RLinf-Wan-LIBERO-Goal/resnet_rm.pth")?.name,
    "RLinf/RLinf-Wan-LIBERO-Goal",
  );
  assert.match(whereToGet("Pathto/RLinf/mine") ?? "", /docs\/checkpoints\.md/);
  assert.equal(whereToGet("runs/mine"), undefined);
});
