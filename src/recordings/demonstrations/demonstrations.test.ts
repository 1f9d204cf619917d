import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { keep, scope, type Tensor, tensor } from "#tensor";
import type { EpisodeJob } from "./begin-job.ts";
import { collectSettingsSchema } from "./collect-settings.ts";
import { type EpisodeOutcome, ShardCollector } from "./collect-shard.ts";
import { infoPath, shardPath } from "./layout.ts";
import { openDemonstrations } from "./reader.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-demonstrations-"));
after(() => rmSync(folder, { recursive: true }));

const settings = collectSettingsSchema.parse({ suite: "tabletop_object", size: 32, wrist: true, noise: 0.1 });
const jobs: EpisodeJob[] = [
  { task: 0, start: -1, seed: 11 },
  { task: 3, start: 7, seed: 12 },
];

function collect(name: string, list: readonly EpisodeJob[], change: object = {}) {
  const path = join(folder, name);
  const outcomes: EpisodeOutcome[] = [];
  using collector = new ShardCollector({ ...settings, ...change });
  const summary = collector.collect({ jobs: list, path }, (outcome) => outcomes.push(outcome));
  return { path, summary, outcomes };
}

function describe(shards: readonly object[]): void {
  writeJsonFile(infoPath(folder), {
    format: "reverie-demonstrations",
    version: 1,
    pack: "tabletop",
    suite: settings.suite,
    tasks: ["a", "b", "c", "d", "e", "f"],
    width: 32,
    height: 32,
    wrist: true,
    fps: 20,
    shards,
    settings,
  });
}

test("an episode of T actions is read back with T + 1 frames, its labels beside what was executed", () => {
  const { summary, outcomes } = collect("shard-00000.safetensors", jobs);
  describe([summary]);
  const { episodes, shards } = openDemonstrations(folder);
  assert.deepEqual(
    episodes.map(({ length, task, start, succeeded }) => ({ length, task, start, succeeded })),
    outcomes.map(({ steps, job, success }) => ({
      length: steps,
      task: job.task,
      start: job.start,
      succeeded: success,
    })),
  );
  assert.equal(episodes[1]?.firstFrame, (episodes[0]?.length ?? 0) + 1);
  assert.equal(
    summary.frames,
    episodes.reduce((sum, { length }) => sum + length + 1, 0),
  );
  const [tensors] = shards;
  assert.deepEqual(tensors?.get("main_images")?.shape, [summary.frames, 32, 32, 3]);
  assert.notDeepEqual(tensors?.get("actions")?.toArray(), tensors?.get("expert_actions")?.toArray());
  const success = tensors?.get("success")?.toArray() as number[];
  assert.equal(success[0], 0);
  assert.equal(success[episodes[0]!.length], 1, "the last frame of a solved episode shows the goal");
});

test("a frame tells which goals of the suite hold, also those of other tasks", () => {
  const list = [{ task: 1, start: 4, seed: 3 }]; // green cube, with red cube, blue can and another can beside it
  const change = { keep_failures: true, wrong_object: 1, noise: 0 };
  const { summary, outcomes } = collect("shard-00000.safetensors", list, change);
  describe([summary]);
  const [tensors] = openDemonstrations(folder).shards;
  const goals = (tensors?.get("goals")?.toArray() ?? []).map(Number);
  assert.equal(outcomes[0]?.success, false);
  assert.equal(goals[0], 0);
  const final = goals.at(-1) ?? 0;
  assert.ok(final > 0 && (final & (1 << 1)) === 0, `another thing is in the basket: ${final}`);
});

test("an episode does not depend on the episodes before it", () => {
  const both = collect("both.safetensors", jobs);
  const turned = collect("turned.safetensors", [...jobs].reverse());
  const second = collect("second.safetensors", [jobs[1]!]);
  assert.deepEqual(turned.outcomes.toReversed(), both.outcomes);
  assert.deepEqual(second.outcomes, both.outcomes.slice(1));
  assert.deepEqual(readFileSync(collect("again.safetensors", jobs).path), readFileSync(both.path));
});

test("failed episodes are dropped unless they are asked for", () => {
  const hopeless = { max_steps: 5 };
  assert.equal(collect("dropped.safetensors", jobs, hopeless).summary.episodes, 0);
  const kept = collect("kept.safetensors", jobs, { ...hopeless, keep_failures: true }).summary;
  assert.deepEqual(kept, { episodes: 2, frames: 12, attempts: 2 });
});

test("a damaged or missing description is an error that names it", () => {
  assert.throws(() => openDemonstrations(join(folder, "nowhere")), /no dataset\.json.*reverie collect/);
  writeFileSync(infoPath(folder), "{}");
  assert.throws(() => openDemonstrations(folder), /dataset\.json does not describe demonstrations/);
});

test("a shard that was cut short, or is not as described, is an error that names it", () => {
  const { summary } = collect("shard-00000.safetensors", jobs);
  describe([{ ...summary, frames: summary.frames + 1 }]);
  assert.throws(() => openDemonstrations(folder), /shard-00000.*main_images should be/);
  describe([summary]);
  truncateSync(shardPath(folder, 0), 100_000);
  assert.throws(() => openDemonstrations(folder), /shard-00000/);
});

test("a shard without one of its columns, or with one that lies, is an error that names it", () => {
  const { summary, path } = collect("shard-00000.safetensors", jobs);
  describe([summary]);
  const whole = scope(() => {
    const tensors = new Map([...readSafetensors(path)].map(([name, t]) => [name, keep(t.clone())]));
    return tensors;
  });
  const lengths = whole.get("lengths")!.toArray().map(BigInt) as bigint[];
  const offer = (changes: [string, Tensor | undefined][]): void => {
    const changed = new Map(whole);
    for (const [name, value] of changes)
      if (value) changed.set(name, value);
      else changed.delete(name);
    writeSafetensors(path, changed);
    openDemonstrations(folder);
  };
  for (const name of ["success", "first_frames", "tasks", "starts", "seeds", "succeeded", "wrist_images"])
    assert.throws(
      () => offer([[name, undefined]]),
      new RegExp(`shard-00000.*${name} should be .* is nothing`),
    );
  const lies: [string, bigint[], RegExp][] = [
    ["lengths", [lengths[0]! + 1n, lengths[1]!], /episode 1 begins at frame/],
    ["lengths", [lengths[0]!, lengths[1]! + 1n], /episode 1 claims/],
    ["lengths", [lengths[0]!, lengths[1]! - 1n], /end at frame/],
    ["lengths", [-1n, lengths[1]!], /claims -1 actions/],
    ["lengths", [2n ** 62n, 0n], /claims/],
    ["first_frames", [0n, 0n], /begins at frame 0/],
    ["tasks", [0n, 6n], /task 6, and dataset.json has 6/],
    ["tasks", [-1n, 0n], /task -1/],
  ];
  for (const [name, values, reason] of lies)
    assert.throws(() => offer([[name, tensor(BigInt64Array.from(values))]]), reason);
  assert.throws(() => offer([["states", whole.get("states")!.double()]]), /states should be float32/);
  offer([]);
});

test("episodes of a robot with two hands have 14 numbers per action, 16 per state and both wrists", () => {
  const own = mkdtempSync(join(folder, "two-hands-"));
  const change = { suite: "behavior_goal", size: 16, wrist: true, noise: 0.1, max_steps: 60 };
  using collector = new ShardCollector({ ...settings, ...change });
  const two = [{ task: 5, start: 2, seed: 1 }];
  const summary = collector.collect({ jobs: two, path: shardPath(own, 0) }, () => {});
  const about = {
    format: "reverie-demonstrations",
    version: 1,
    pack: "home",
    suite: change.suite,
    tasks: ["a"],
  };
  const picture = { width: 16, height: 16, wrist: true, fps: 30 };
  writeJsonFile(infoPath(own), {
    ...about,
    ...picture,
    hands: 2,
    tasks: [..."abcdef"],
    shards: [summary],
    settings,
  });
  const { shards, episodes } = openDemonstrations(own);
  const shape = (name: string) => shards[0]!.get(name)!.shape;
  const frames = episodes[0]!.length + 1;
  assert.deepEqual(shape("actions"), [frames, 14]);
  assert.deepEqual(shape("states"), [frames, 16]);
  assert.deepEqual(shape("wrist_images"), [frames, 2, 16, 16, 3]);
  writeJsonFile(infoPath(own), { ...about, ...picture, tasks: [..."abcdef"], shards: [summary], settings });
  assert.throws(() => openDemonstrations(own), /states should be|wrist_images should be/);
});
