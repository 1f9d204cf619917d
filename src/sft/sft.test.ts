import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { handActions } from "#data";
import { readSafetensors, writeSafetensors } from "#formats";
import { loadPolicy, type Policy, writeFreshCheckpoint } from "#policies";
import { openDemonstrations } from "#recordings";
import { liveTensors } from "#tensor";
import { formatName, infoPath, shardPath } from "../recordings/demonstrations/layout.ts";
import { ShardRecorder } from "../recordings/demonstrations/recorder.ts";
import { SftRun, sftSettings } from "./fine-tune.ts";
import { chunksOf, labelDemonstrations } from "./labels.ts";
import { demonstrationStatistics, quantile } from "./statistics.ts";

const tasks = ["go left", "go right"];
const temporary = (): string => mkdtempSync(join(tmpdir(), "reverie-sft-"));

/** Eight episodes of three steps: the brightness of the picture and the sentence say where to go. */
function writeDemonstrations(): string {
  const folder = temporary();
  const recorder = new ShardRecorder({ width: 16, height: 16, wrist: false });
  for (let episode = 0; episode < 8; episode++) {
    const task = episode % 2;
    for (let t = 0; t <= 3; t++) {
      const main = new Uint8Array(16 * 16 * 3).fill(40 * t + 10 * episode);
      recorder.addFrame({ main, state: new Float32Array(8), success: t === 3, goals: 0n });
      const speed = (task === 0 ? -1 : 1) * (0.25 + 0.25 * t);
      const action = [speed, 0, 0, 0, 0, 0, t < 2 ? -1 : 1];
      if (t < 3)
        recorder.addAction(
          action.map((value) => value + 0.1),
          action,
        );
    }
    recorder.endEpisode({ task, start: episode, seed: episode, succeeded: episode !== 7 });
  }
  recorder.write(shardPath(folder, 0));
  const info = {
    format: formatName,
    version: 1,
    pack: "toy",
    suite: "toy_suite",
    tasks,
    width: 16,
    height: 16,
    wrist: false,
    fps: 20,
    shards: [{ episodes: 8, frames: recorder.frames, attempts: 8 }],
    settings: {},
  };
  writeFileSync(infoPath(folder), JSON.stringify(info));
  return folder;
}

const demonstrations = openDemonstrations(writeDemonstrations());
const statistics = demonstrationStatistics([demonstrations]);

function writeBase(): string {
  const folder = temporary();
  writeFreshCheckpoint(folder, {
    tasks,
    normStats: { toy: { ...statistics, action: { ...statistics.action } } },
    unnormKey: "toy",
    seed: 3,
    sizes: {
      image_size: 16,
      vision_width: 32,
      vision_heads: 2,
      vision_depths: [2, 2],
      text_width: 32,
      text_hidden: 48,
      text_heads: 2,
    },
  });
  return folder;
}

const base = writeBase();
const load = (folder = base): Promise<Policy> =>
  loadPolicy(
    {
      model_type: "openvla_oft",
      model_path: folder,
      precision: "fp32",
      num_action_chunks: 2,
      max_prompt_length: 40,
    },
    { actionSpec: { size: 7, gripper: "minus_one_opens" } },
  );

const settings = sftSettings.parse({ steps: 60, batch_size: 8, lr: 3e-3, lr_warmup_steps: 5, seed: 4 });

test("statistics come from the successful expert's actions, the gripper as opening and unmasked", () => {
  assert.equal(statistics.num_trajectories, 7);
  assert.equal(statistics.num_transitions, 21);
  assert.equal(statistics.action.max[0], 0.75);
  assert.deepEqual(statistics.action.mask, [true, true, true, true, true, true, false]);
  assert.equal(statistics.action.max[6], 1); // open
  assert.equal(statistics.action.min[6], 0);
});

test("a quantile lies between its neighbors as in NumPy", () => {
  assert.equal(quantile([0, 10, 20, 30], 0.5), 15);
  assert.equal(quantile([7], 0.99), 7);
});

test("beyond an episode's end the hand rests and keeps its gripper", () => {
  const actions = Float32Array.of(1, 9, 2, 8, 3, 7); // three actions of two numbers, the second the gripper
  assert.deepEqual(
    [...chunksOf(actions, 3, { chunk: 2, size: 2, gripper: "as_is" })],
    [1, 9, 2, 8, 2, 8, 3, 7, 3, 7, 0, 7],
  );
});

test("of two hands, both rest and keep their grippers", () => {
  const action = Float32Array.from({ length: 14 }, (_, i) => i + 1);
  const next = chunksOf(action, 1, { chunk: 2, ...handActions(2) }).subarray(14);
  assert.deepEqual([...next], [0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 14]);
});

test("failed episodes are not learned from, and the label is the expert's action, not the noisy one", async () => {
  const policy = await load();
  const frames = labelDemonstrations(policy, [demonstrations], { batch: 7 });
  assert.equal(frames.frames, 21);
  assert.deepEqual(frames.firstRows, [0, 3, 6, 9, 12, 15, 18]);
  assert.deepEqual(frames.forwardInputs.action_tokens!.shape, [21, 2, 7]);
  const whole = labelDemonstrations(policy, [demonstrations], { batch: 1000 });
  assert.deepEqual(
    whole.forwardInputs.action_tokens!.toArray(),
    frames.forwardInputs.action_tokens!.toArray(),
  );
});

test("the loss of demonstrations falls to less than a quarter", async () => {
  const policy = await load();
  const frames = labelDemonstrations(policy, [demonstrations]);
  const losses: number[] = [];
  const run = new SftRun(policy, frames, { ...settings, steps: 150 });
  await run.train({ reportEvery: 15, onProgress: ({ loss }) => losses.push(loss) });
  assert.ok(losses.at(-1)! < losses[0]! / 4, `losses ${losses.map((loss) => loss.toFixed(2)).join(" ")}`);
});

test("the same seed gives the same weights, resumed half-way or not", async () => {
  const weightsOf = (policy: Policy) => [...policy.module.parameters()].map((weight) => weight.toArray());
  const straight = await load();
  const frames = labelDemonstrations(straight, [demonstrations]);
  const twelve = { ...settings, steps: 12 };
  await new SftRun(straight, frames, twelve).train();

  const first = await load();
  const interrupted = new SftRun(first, frames, { ...twelve, steps: 6 });
  await interrupted.train();
  const folder = temporary();
  await first.save(folder);
  writeSafetensors(join(folder, "training.safetensors"), interrupted.state());
  const second = await load(folder);
  const resumed = new SftRun(second, frames, twelve);
  resumed.loadState(readSafetensors(join(folder, "training.safetensors")));
  assert.equal(resumed.step, 6);
  await resumed.train();
  assert.deepEqual(weightsOf(second), weightsOf(straight));
});

test("a step leaves no tensor behind", async () => {
  const policy = await load();
  const run = new SftRun(policy, labelDemonstrations(policy, [demonstrations]), { ...settings, steps: 6 });
  const counts: number[] = [];
  await run.train({ afterStep: async () => void counts.push(liveTensors()) });
  assert.equal(counts.at(-1), counts[1]);
});
