/** Episodes recorded from the env, played again. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { UserError } from "#registry";
import { tensor } from "#tensor";
import { simulatorEnvSettings } from "../../envs/vector/settings.ts";
import { SimulatorEnv } from "../../envs/vector/simulator-env.ts";
import { findSuite } from "../../simulators/suites.ts";
import { replayEpisode } from "./replay.ts";
import { readReplay, writeReplay } from "./replay-file.ts";
import { ReplayRecorder } from "./replay-recorder.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-replay-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let paths: readonly string[] = [];

before(async () => {
  const suite = findSuite("tabletop_goal");
  const recorder = new ReplayRecorder({
    folder,
    suite,
    settleSteps: suite.pack.control.settleSteps,
    gripperOpen: true,
  });
  const settings = simulatorEnvSettings.parse({
    task_suite_name: suite.name,
    max_episode_steps: 8,
    auto_reset: true,
    init_params: { camera_heights: 16, camera_widths: 16 },
    env_workers: 0,
  });
  const env = new SimulatorEnv(2, settings, { watcher: recorder });
  await env.reset();
  for (let i = 0; i < 3; i++) {
    const values = Float32Array.from({ length: 2 * 4 * 7 }, (_, k) => Math.sin(78.233 * (k + 1) * (i + 2)));
    await env.step(tensor(values, { shape: [2, 4, 7] }));
  }
  recorder.finish();
  paths = recorder.paths;
  await env.close();
});

/** A copy of the first recording, changed and signed again. */
function forged(change: (file: ReturnType<typeof readReplay>) => object): string {
  const { format: _, checksum: __, ...content } = readReplay(paths[0]!);
  const path = join(folder, "forged.replay.json");
  writeReplay(path, { ...content, ...change({ ...readReplay(paths[0]!) }) });
  return path;
}

test("finished episodes and those under way at the end are written, with every action", () => {
  assert.deepEqual(
    paths.map((path) => readReplay(path).hashes.length),
    [8, 8, 4, 4],
  );
});

test("a recorded episode plays again identically", () => {
  for (const path of paths) assert.equal(replayEpisode(path).identical, true, path);
});

test("one changed action is found at its step", () => {
  const path = forged(({ actions }) => {
    const bytes = Buffer.from(actions, "base64");
    bytes.writeFloatLE(0.123, 4 * (7 * 5 + 1));
    return { actions: bytes.toString("base64") };
  });
  const verdict = replayEpisode(path);
  assert.ok(!verdict.identical && verdict.step === 5, JSON.stringify(verdict));
});

test("another start is found before the first action", () => {
  const path = forged(({ start }) => {
    const bytes = Buffer.from(start, "base64");
    bytes.writeDoubleLE(bytes.readDoubleLE(8 * 12) + 1e-9, 8 * 12);
    return { start: bytes.toString("base64") };
  });
  const verdict = replayEpisode(path);
  assert.ok(!verdict.identical && verdict.step === -1, JSON.stringify(verdict));
});

test("a verdict on the goal that was not the simulator's is found", () => {
  const verdict = replayEpisode(forged(({ success }) => ({ success: success.replace(/.$/, "1") })));
  assert.ok(!verdict.identical && verdict.step === 7 && /another verdict/.test(verdict.reason));
});

test("a billion steps of rest are refused, and so is another number of joints", () => {
  for (const [change, reason] of [
    [{ settle_steps: 1e9 }, /settle_steps/],
    [{ start: Buffer.alloc(80).toString("base64") }, /a start has \d+ numbers, not 10/],
    [{ seed: 2 ** 40 }, /a seed is an integer/],
  ] as const)
    assert.throws(
      () => replayEpisode(forged(() => change)),
      (error: unknown) => error instanceof UserError && reason.test(error.message),
    );
});

const damage: [string, (text: string) => string, RegExp][] = [
  ["cut short", (text) => text.slice(0, 300), /not a readable JSON file/],
  ["edited by hand", (text) => text.replace(/"trial": \d+/, '"trial": 49'), /checksum is wrong/],
  ["of another format", () => "{}", /not a readable replay file: .*format/s],
];
for (const [what, change, message] of damage) {
  test(`a file ${what} is refused`, () => {
    const path = join(folder, "damaged.replay.json");
    writeFileSync(path, change(readFileSync(paths[0]!, "utf8")));
    assert.throws(
      () => replayEpisode(path),
      (error: unknown) => error instanceof UserError && message.test(error.message),
    );
  });
}
