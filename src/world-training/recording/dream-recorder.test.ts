import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readSafetensors } from "#formats";
import { loadPolicy, type Policy } from "#policies";
import { Mt19937 } from "#random";
import { recordingSettings, ScenePlayer } from "#recordings";
import { tinyCheckpoint } from "../../../test/support/tiny-run.ts";
import { toyWorld } from "../../../test/support/toy-world.ts";
import { openWorld } from "../open-world.ts";
import { DreamRecorder } from "./dream-recorder.ts";
import { PolicyRecorder } from "./policy-recorder.ts";

const suite = "tabletop_object";
const settings = recordingSettings.parse({ suite, size: 16, steps: 16 });
const temperatures = [1, 0];
const jobs = [0, 1, 2].map((task) => ({ task, start: -1, seed: 7_000_000 + task }));
const folder = mkdtempSync(join(tmpdir(), "reverie-dreamt-"));

async function openPolicy(): Promise<Policy> {
  const section = {
    model_type: "openvla_oft",
    model_path: tinyCheckpoint([suite], "tabletop"),
    unnorm_key: "tabletop",
    max_prompt_length: 32,
  };
  return loadPolicy(section as never, {
    device: "cpu",
    actionSpec: { size: 7, gripper: "minus_one_opens" },
  });
}

/** Rows of actions by episode; each episode ends with a row that nothing follows. */
function episodes(path: string): { actions: number[][]; states: number[][] }[] {
  const shard = readSafetensors(path);
  const rows = (name: string): number[][] => shard.get(name)!.nested() as number[][];
  const [actions, states] = [rows("actions"), rows("states")];
  const lengths = shard.get("episode_lengths")?.toArray().map(Number) ?? [16, 16, 16];
  let at = 0;
  return lengths.map((length) => {
    const own = {
      actions: actions.slice(at, at + length),
      states: states.slice(at, at + length + 1),
    };
    at += length + 1;
    return own;
  });
}

test("a policy in a dream begins as in the simulator and goes on otherwise; what is recorded is what the simulator makes of it", async () => {
  const policy = await openPolicy();
  const { world: where } = await toyWorld(suite, 6);
  const world = await openWorld(where, { device: "cpu", size: [16, 16], samplingSteps: 1 });
  using dreaming = new DreamRecorder({ policy, world }, settings, temperatures);
  using awake = new PolicyRecorder(policy, settings, temperatures);
  const [dreamt, seen] = [join(folder, "dreamt.safetensors"), join(folder, "seen.safetensors")];
  const told: number[] = [];
  await dreaming.collect({ jobs, path: dreamt }, ({ steps }) => told.push(steps));
  await awake.collect({ jobs, path: seen }, () => {});
  assert.deepEqual(told, [16, 16, 16]);
  const [inDream, inTruth] = [episodes(dreamt), episodes(seen)];
  for (const [e, { actions, states }] of inDream.entries()) {
    const apart = (from: number): number =>
      distance(actions.slice(from, from + 8), inTruth[e]!.actions.slice(from));
    assert.ok(apart(0) < 0.02, `${apart(0)}`); // imagined bytes are cut off, not rounded: a gray level may turn a token
    assert.ok(apart(8) > apart(0), `${apart(8)}, ${apart(0)} in the first chunk`);
    assert.deepEqual(states, replayed(e, actions));
  }
});

const distance = (a: readonly number[][], b: readonly number[][]): number => {
  const differences = a.flatMap((row, i) => row.map((value, j) => Math.abs(value - b[i]![j]!)));
  return differences.reduce((sum, value) => sum + value, 0) / differences.length;
};

/** The hand's states when these actions are played from the episode's start. */
function replayed(episode: number, actions: readonly number[][]): number[][] {
  using player = new ScenePlayer(suite, 16);
  const scene = player.open(jobs[episode]!.task);
  scene.begin(jobs[episode]!, new Mt19937(jobs[episode]!.seed));
  const states = [scene.frame().state];
  for (const action of actions) {
    scene.step(action);
    states.push(scene.frame().state);
  }
  return states.map((state) => [...Float32Array.from(state)]);
}
