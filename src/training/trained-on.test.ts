import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { CheckedConfig } from "#config";
import type { Demonstrations } from "#recordings";
import { startsPlayed, startsText } from "./evaluation/played-starts.ts";
import { readRun } from "./read-run.ts";
import {
  readTrainedOn,
  seenStoredStarts,
  trainedOnAfter,
  trainedOnDemonstrations,
  untrained,
  writeTrainedOn,
} from "./trained-on.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-trained-on-"));
after(() => rmSync(folder, { recursive: true }));
const shipped = fileURLToPath(new URL("../../checkpoints/openvla-oft-mini", import.meta.url));

const run = (model: string, ...overrides: string[]): Promise<CheckedConfig> =>
  readRun("quickstart", { overrides: [`actor.model.model_path=${model}`, ...overrides] });

const set = (suite: string, jobs: readonly object[]): Demonstrations =>
  ({ info: { suite }, episodes: jobs }) as unknown as Demonstrations;

test("training in the simulator has seen all stored starts of its suite, and of no other", async () => {
  const record = trainedOnAfter(await run(shipped));
  assert.deepEqual(record.trainings.at(-1), "grpo in libero, tabletop_object");
  assert.deepEqual(seenStoredStarts(record, "tabletop_object"), { seen: 300, of: 300, complete: true });
  assert.deepEqual(seenStoredStarts(record, "tabletop_goal"), { seen: 0, of: 400, complete: true });
});

test("training in a learned world has seen no stored start", async () => {
  const checked = await readRun("opensora_tabletop_object_grpo_openvlaoft_mini");
  assert.equal(seenStoredStarts(trainedOnAfter(checked), "tabletop_object").seen, 0);
});

test("the shipped policy's demonstrations held 16 of the 300 stored starts of tabletop_spatial, and none of tabletop_object", () => {
  const record = readTrainedOn(shipped);
  assert.deepEqual(seenStoredStarts(record, "tabletop_spatial"), { seen: 16, of: 300, complete: true });
  assert.equal(seenStoredStarts(record, "tabletop_object").seen, 0);
  const before = Array.from({ length: 2100 }, (_, i) => ({ task: i % 6, start: -1, seed: i })); // as they were planned then
  assert.deepEqual(
    trainedOnDemonstrations(untrained, [set("tabletop_spatial", before)]).stored_starts,
    record.stored_starts,
  );
});

test("demonstrations from stored starts count, each once, and add to what was seen before", () => {
  const jobs = [3, 3, 7].map((start) => ({ task: 0, start, seed: 5 }));
  const once = trainedOnDemonstrations(untrained, [set("tabletop_object", jobs)]);
  assert.equal(seenStoredStarts(once, "tabletop_object").seen, 2);
  const twice = trainedOnDemonstrations(once, [set("tabletop_object", [{ task: 0, start: 9, seed: 5 }])]);
  assert.equal(seenStoredStarts(twice, "tabletop_object").seen, 3);
  assert.equal(seenStoredStarts(twice, "tabletop_object", [1]).seen, 0);
});

test("what an evaluation says of its starts follows from the model's record", async () => {
  const trained = join(folder, "trained");
  mkdirSync(trained);
  writeTrainedOn(trained, trainedOnAfter(await run(shipped)));
  const said = async (...given: Parameters<typeof run>) => startsPlayed(await run(...given));
  assert.equal((await said(trained)).seen_in_training, "yes");
  assert.equal((await said(shipped)).seen_in_training, "no");
  assert.equal((await said(shipped, "env.eval.task_suite_name=tabletop_spatial")).seen_in_training, "some");
  assert.equal((await said(join(folder, "of unknown origin"))).seen_in_training, "unknown");
  const fresh = await said(trained, "env.eval.starts=fresh:2");
  assert.deepEqual([fresh.kind, fresh.seed, fresh.seen_in_training], ["fresh", 2, "no"]);
  assert.match(startsText(fresh), /^fresh starts 2, not seen in training/);
});

test("a damaged record is no record", () => {
  writeFileSync(join(folder, "trained-on.json"), '{"format": "reverie tr');
  assert.equal(readTrainedOn(folder).complete, false);
  writeFileSync(join(folder, "trained-on.json"), '{"format": "another"}');
  assert.equal(readTrainedOn(folder).complete, false);
});

test("training on fresh starts is refused, and so are fresh starts of a learned world", async () => {
  const refused = (...overrides: string[]) => run(shipped, ...overrides);
  await assert.rejects(refused("env.train.starts=fresh"), /kept for evaluations/);
  await assert.rejects(
    refused("runner.only_eval=True", "env.eval.starts=new"),
    /expected "stored", "fresh" or "fresh:SEED"/,
  );
  await assert.rejects(
    readRun("opensora_tabletop_object_grpo_openvlaoft_mini", { overrides: ["env.train.starts=fresh"] }),
    /begins from the pictures in its folder/,
  );
});
