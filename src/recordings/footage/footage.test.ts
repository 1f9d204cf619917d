import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readSafetensors } from "#formats";
import { Mt19937 } from "#random";
import { EpisodeEnd } from "./episode-end.ts";
import { recordingSettings } from "./recording-settings.ts";
import { ScenePlayer } from "./scene-player.ts";
import { ScriptedRecorder } from "./scripted-recorder.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-footage-"));
after(() => rmSync(folder, { recursive: true }));
const base = { suite: "tabletop_object", size: 16, steps: 30 };

async function record(name: string, change: object, jobs = 6) {
  using recorder = new ScriptedRecorder(recordingSettings.parse({ ...base, ...change }));
  const path = join(folder, name);
  const list = Array.from({ length: jobs }, (_, i) => ({ task: i % 6, start: -1, seed: 100 + i }));
  const outcomes: boolean[] = [];
  await recorder.collect({ jobs: list, path }, ({ success }) => outcomes.push(success));
  const tensors = readSafetensors(path);
  const numbers = (key: string): number[] => tensors.get(key)!.toArray().map(Number);
  return {
    path,
    outcomes,
    goals: numbers("goals"),
    lengths: numbers("lengths"),
    firsts: numbers("first_frames"),
  };
}

test("clean episodes succeed, and wrong objects fulfil another task's goal instead", async () => {
  const clean = await record("clean.safetensors", { clean_share: 1, wrong_share: 0 });
  assert.ok(clean.outcomes.filter(Boolean).length >= 5, `${clean.outcomes}`);
  const wrong = await record("wrong.safetensors", { clean_share: 0, wrong_share: 1, steps: 40 });
  assert.equal(wrong.outcomes.filter(Boolean).length, 0);
  const others = wrong.firsts.filter((first, i) => {
    const end = first + wrong.lengths[i]!;
    return wrong.goals.slice(first, end + 1).some((mask) => mask !== 0);
  });
  assert.ok(others.length >= 3, `${others.length} of 6 put another object in the basket`);
});

test("the same seeds record the same bytes", async () => {
  const [one, two] = [await record("one.safetensors", {}, 2), await record("two.safetensors", {}, 2)];
  assert.deepEqual(readFileSync(one.path), readFileSync(two.path));
});

test("an episode goes on for the wanted steps after any goal, and never beyond its time", () => {
  const end = new EpisodeEnd({ steps: 10, steps_after_success: 3 });
  const play = (goals: bigint[]): number => {
    for (const mask of goals) if (!end.reached) end.count({ success: false, goals: mask });
    return end.steps;
  };
  assert.equal(play([0n, 4n, 4n, 0n, 0n, 0n, 0n]), 5);
  assert.equal(end.succeeded, false);
});

test("two episodes of one task play side by side without touching each other", () => {
  using player = new ScenePlayer("tabletop_object", 16);
  const play = (together: boolean): number[] => {
    const first = player.open(0);
    first.begin({ task: 0, start: -1, seed: 5 }, new Mt19937(5));
    const second = together ? player.open(0) : undefined;
    second?.begin({ task: 0, start: -1, seed: 6 }, new Mt19937(6));
    for (let i = 0; i < 4; i++) {
      first.step([0.5, 0.2, -0.4, 0, 0, 0, -1]);
      second?.step([-0.5, 0.1, 0.2, 0, 0, 0, 1]);
    }
    const state = [...first.frame().state];
    player.done(0, first);
    return state;
  };
  assert.deepEqual(play(true), play(false));
});
