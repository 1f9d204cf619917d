/** Fresh starts in the env of evaluations: new, the same every time, and as good for replays as stored ones. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { processLauncher } from "#cluster";
import { tensor } from "#tensor";
import { liberoForTests } from "../../../test/libero-assets.ts";
import { simulatorEnvSettings } from "../../envs/vector/settings.ts";
import { SimulatorEnv, type SimulatorEnvParts } from "../../envs/vector/simulator-env.ts";
import { replayEpisode } from "../../recordings/replays/replay.ts";
import { ReplayRecorder } from "../../recordings/replays/replay-recorder.ts";
import type { Sight, SlotStart } from "../slots/slot-host.ts";
import { findSuite } from "../suites.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-fresh-"));
after(() => rmSync(folder, { recursive: true }));

const open = (suite: string, size: number, changes: object = {}, parts: SimulatorEnvParts = {}) =>
  new SimulatorEnv(
    size,
    simulatorEnvSettings.parse({
      task_suite_name: suite,
      max_episode_steps: 8,
      is_eval: true,
      starts: "fresh:1",
      starts_per_task: 2,
      init_params: { camera_heights: 16, camera_widths: 16 },
      env_workers: 0,
      ...changes,
    }),
    { launcher: processLauncher, ...parts },
  );

/** What the slots of a first reset begin from. */
async function begun(suite: string, size: number, changes: object = {}) {
  const starts: { start: SlotStart; sight: Sight }[] = [];
  const env = open(suite, size, changes, {
    watcher: { began: (start, _, sight) => void starts.push({ start, sight }) },
  });
  await env.reset();
  await env.close();
  return starts;
}

test("fresh starts are none of the stored ones, differ from each other, and are the same every time", async () => {
  const [one, two] = [
    await begun("tabletop_spatial", 12),
    await begun("tabletop_spatial", 12, { env_workers: 2, seed: 5 }),
  ];
  assert.deepEqual(
    one.map(({ sight }) => sight.hash),
    two.map(({ sight }) => sight.hash),
  );
  assert.equal(new Set(one.map(({ sight }) => sight.hash)).size, 12);
  const { pack, tasks } = findSuite("tabletop_spatial");
  for (const { start, sight } of one) {
    const { data, width, count } = pack.readInitStates(tasks[start.task]!);
    const row = [...Float32Array.from(sight.row!)].join();
    for (let k = 0; k < count; k++)
      assert.notEqual([...Float32Array.from(data.subarray(k * width, (k + 1) * width))].join(), row);
  }
  const other = await begun("tabletop_spatial", 12, { starts: "fresh:2" });
  const hashes = new Set(one.map(({ sight }) => sight.hash));
  assert.ok(other.every(({ sight }) => !hashes.has(sight.hash)));
});

test("a scene does not depend on how many are played of each task", async () => {
  const few = await begun("tabletop_object", 6, { starts_per_task: 1 });
  const more = await begun("tabletop_object", 12, { starts_per_task: 2 });
  const hash = (found: typeof few, task: number) =>
    found.find(({ start }) => start.task === task && start.trial === 0)!.sight.hash;
  for (let task = 0; task < 6; task++) assert.equal(hash(few, task), hash(more, task));
});

async function replays(suite: string): Promise<readonly string[]> {
  const { pack } = findSuite(suite);
  const recorder = new ReplayRecorder({
    folder: mkdtempSync(join(folder, "replays-")),
    suite: findSuite(suite),
    settleSteps: pack.control.settleSteps,
    gripperOpen: true,
  });
  const env = open(suite, 2, {}, { watcher: recorder });
  await env.reset();
  const values = Float32Array.from({ length: 2 * 8 * 7 }, (_, k) => Math.sin(78.233 * (k + 1)));
  await env.step(tensor(values, { shape: [2, 8, 7] }));
  recorder.finish();
  await env.close();
  return recorder.paths;
}

test("an episode from a fresh start plays again identically", async () => {
  const paths = await replays("tabletop_goal");
  assert.equal(paths.length, 2);
  for (const path of paths)
    assert.deepEqual(replayEpisode(path), { identical: true, steps: 8, success: false });
});

test("the stored number of starts is the default, and a specific start can be named", async () => {
  const env = open("tabletop_object", 1, { starts_per_task: null, specific_reset_id: 299 });
  assert.deepEqual(env.trials, [50, 50, 50, 50, 50, 50]);
  await env.close();
});

const { skip, folder: libero } = await liberoForTests();
test("LIBERO draws fresh starts with its own sampler: none is stored, and they replay", {
  skip,
}, async () => {
  process.env.REVERIE_HOME = join(libero, "..");
  const starts = await begun("libero_spatial", 4, { task_id_filter: [0, 1] });
  const { pack, tasks } = findSuite("libero_spatial");
  assert.equal(new Set(starts.map(({ sight }) => sight.hash)).size, 4);
  for (const { start, sight } of starts) {
    const { data, width, count } = pack.readInitStates(tasks[start.task]!);
    assert.equal(sight.row!.length, width);
    const objects = [...sight.row!.subarray(10, 17)].join(); // the first object's pose
    for (let k = 0; k < count; k++)
      assert.notEqual([...data.subarray(k * width + 10, k * width + 17)].join(), objects);
  }
  for (const path of await replays("libero_spatial")) assert.equal(replayEpisode(path).identical, true);
});
