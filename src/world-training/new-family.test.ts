/** A family of worlds is added from outside by registering it; nothing else in the house is told. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import { environmentFamily, environments, worldFolder } from "#envs";
import { defineWorld, envTypeOf, recognizeWorld, worlds } from "#worlds";
import { clockWorld } from "../../test/support/clock-world.ts";
import { openWorld, trainingOfFamily, trainingOfWorld, worldTrainings } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-family-"));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "clock.json"), "{}");

const clock = defineWorld({
  name: "clock",
  settings: z.looseObject({ hands: z.int().default(2) }),
  section: {
    keys: { hands: z.int().default(2).describe("of the clock"), chunk: z.int().default(8) },
    chunkKey: "chunk",
  },
  recognizes: (path) => path === folder,
  blockOf: () => ({ hands: 3 }),
  load: () => clockWorld(8, [16, 16]),
});

test("a registered family is an environment, is recognized by its folder, and opens", async () => {
  assert.ok(!environments.has("clock_wm"));
  worlds.register("clock", async () => clock);
  assert.ok(environments.names().includes(envTypeOf("clock")));
  assert.equal((await recognizeWorld(folder))?.name, "clock");
  assert.equal((await openWorld(folder, { device: "cpu", size: [16, 16] })).chunk, 8);
  assert.equal((await environmentFamily({ env_type: "clock_wm" })).actions({ env_type: "clock_wm" }).size, 7);
  assert.equal(worldFolder({ clock_wm_hf_ckpt_path: folder }), folder);
});

test("its env block is checked: its own keys, those of all learned envs, and no others", async () => {
  const { settings, check } = await environments.get("clock_wm");
  assert.ok(settings.safeParse({ hands: 1, judge_threshold: 0.7 }).success);
  assert.ok(!settings.safeParse({ fingers: 1 }).success);
  const run = { actor: { model: { num_action_chunks: 5 } } };
  assert.match(check?.({ chunk: 8 }, run)[0]?.message ?? "", /is 8, but .* is 5/);
});

test("a family that offers no training is told so, and those that do are named", async () => {
  await assert.rejects(trainingOfWorld(folder), /family "clock" cannot be trained; these can: evac/);
  worldTrainings.register("clock", () => worldTrainings.get("opensora"));
  assert.equal(await trainingOfFamily("clock"), await worldTrainings.get("opensora"));
});
