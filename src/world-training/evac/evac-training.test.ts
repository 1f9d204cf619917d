import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openLearnedEnv } from "#envs";
import { zeros } from "#tensor";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { writeStarts } from "../frames/starts.ts";
import { openWorld, recognizedWorld } from "../open-world.ts";
import { openRewardModel } from "../reward-model/open-reward-model.ts";
import { rewardModelSettings, trainRewardModel } from "../reward-model/training.ts";
import { measureTruth } from "../truth/truth.ts";
import { RecordedTruth } from "../truth/truth-source.ts";
import { evacAutoencoderSettings, trainEvacAutoencoder } from "./autoencoder.ts";
import { trainEvacDenoiser } from "./denoiser.ts";
import { recallOf } from "./lessons.ts";
import { followingError, readPredictor, walkedPoses } from "./predictor.ts";
import { evacDenoiserSettings } from "./settings.ts";
import { handView, recordedPoses } from "./view.ts";

const frames = new RecordedFrames([tinyRecording(12)], "cpu");
const world = mkdtempSync(join(tmpdir(), "reverie-evac-"));
const quick = { lr_warmup_steps: 2, ema_decay: 0.5, lr: 3e-3 };
const denoiser = evacDenoiserSettings.parse({
  ...quick,
  steps: 14,
  batch_size: 4,
  model_channels: 32,
  context_dim: 32,
  clip_width: 32,
  predictor_steps: 200,
  predictor_batch_size: 32,
});

async function lossesOf(
  train: (hooks: { reportEvery: number; onProgress: (progress: { loss: number }) => void }) => Promise<void>,
): Promise<number[]> {
  const seen: number[] = [];
  await train({ reportEvery: 1, onProgress: ({ loss }) => void seen.push(loss) });
  return seen;
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

test("a window remembers the episode's first frame, two between, and the last", () => {
  assert.deepEqual(recallOf(4)(0), [0, 0, 0, 0]);
  assert.deepEqual(recallOf(4)(8), [0, 1, 5, 8]);
  assert.deepEqual(recallOf(4)(32), [0, 9, 21, 32]);
});

test("the hand is drawn where the camera shows it", () => {
  const { camera } = handView(frames, recordedPoses(frames));
  assert.ok(Math.abs(camera.intrinsic[0]![0]! - 8) < 1e-9); // 90 degrees over 16 pixels
});

test("an EVAC autoencoder learns pictures and drawings", async () => {
  const settings = evacAutoencoderSettings.parse({
    ...quick,
    steps: 40,
    batch_size: 16,
    ch: 8,
    ch_mult: [1, 2, 2],
    norm_num_groups: 4,
    z_channels: 4,
  });
  const losses = await lossesOf((hooks) => trainEvacAutoencoder(frames, settings, world, hooks));
  assert.ok(losses.at(-1)! < losses[0]! / 2, `${losses[0]} to ${losses.at(-1)}`);
  assert.equal((await recognizedWorld(world)).name, "evac");
});

test("its networks learn, and an interrupted training ends with the same world", async () => {
  const losses = await lossesOf((hooks) => trainEvacDenoiser(frames, denoiser, world, hooks));
  const [early, late] = [average(losses.slice(0, 4)), average(losses.slice(-4))];
  assert.ok(late < early, `${early} to ${late}`);
  const again = mkdtempSync(join(tmpdir(), "reverie-evac-"));
  for (const name of ["first_stage_model.ckpt", "first_stage_model.json"])
    cpSync(join(world, name), join(again, name));
  const resumeFile = join(again, "resume.safetensors");
  const interrupted = trainEvacDenoiser(frames, denoiser, again, {
    resumeFile,
    saveEvery: 6,
    reportEvery: 1,
    onProgress: ({ step }) => {
      if (step === 9) throw new Error("interrupted");
    },
  });
  await assert.rejects(interrupted, /interrupted/);
  await trainEvacDenoiser(frames, denoiser, again, { resumeFile });
  for (const name of ["evac.ckpt", "action_predictor.pth", "evac.json"])
    assert.deepEqual(readFileSync(join(again, name)), readFileSync(join(world, name)), name);
  rmSync(again, { recursive: true });
});

test("the action predictor follows the hand through an episode", () => {
  const recorded = recordedPoses(frames);
  const believed = walkedPoses(readPredictor(world, frames), frames, recorded);
  const still = recorded.map((_, row) => {
    const { first } = frames.episodes.find((each) => row >= each.first && row <= each.first + each.length)!;
    return recorded[first]!;
  });
  const [error, standing] = [believed, still].map((poses) => followingError(frames, recorded, poses, 12));
  assert.ok(error! < standing! / 3, `${error} against ${standing} of a hand that stands still`);
});

test("its folder opens, imagines, is judged and measured as it is", async () => {
  await trainRewardModel(
    frames,
    rewardModelSettings.parse({ ...quick, steps: 2, batch_size: 4, widths: [4, 4, 4, 4] }),
    world,
  );
  const opened = await openWorld(world, { device: "cpu", size: frames.size, samplingSteps: 2 });
  const source = new RecordedTruth(frames, { episodes: 3, chunk: 8 });
  const options = { chunks: 1, batch: 3, threshold: 0.5, holdFrames: 1, seed: 0 };
  const report = await measureTruth(opened, openRewardModel(world, "cpu"), source, options);
  assert.ok(report.frames.every(({ psnr, drift }) => Number.isFinite(psnr) && Number.isFinite(drift)));
});

test("a world that goes on learning, in bfloat16, keeps its predictor and its description", async () => {
  const copy = mkdtempSync(join(tmpdir(), "reverie-evac-"));
  cpSync(world, copy, { recursive: true });
  const going = { steps: 2, batch_size: 4, init_from: world, precision: "bf16" };
  const settings = evacDenoiserSettings.parse({ ...quick, ...going });
  const losses = await lossesOf((hooks) => trainEvacDenoiser(frames, settings, copy, hooks));
  assert.ok(losses.length === 2 && losses.every(Number.isFinite), losses.join());
  for (const name of ["action_predictor.pth", "evac.json"])
    assert.deepEqual(readFileSync(join(copy, name)), readFileSync(join(world, name)), name);
  assert.notDeepEqual(readFileSync(join(copy, "evac.ckpt")), readFileSync(join(world, "evac.ckpt")));
});

test("the folder that training leaves is an environment as it is", async () => {
  writeStarts(frames, world, { count: 6 });
  const env = await openLearnedEnv(
    {
      env_type: "evac_wm",
      initial_image_path: join(world, "dataset"),
      max_episode_steps: 16,
      sample_size: [16, 16],
      ddim_steps: 2,
      ddim_eta: 0,
      world_model_cfg: { pretrained_checkpoint: join(world, "evac.ckpt") },
      action_predictor_cfg: { pretrained_checkpoint: join(world, "action_predictor.pth") },
      reward_model_cfg: {
        type: "TaskEmbedResnetRewModel",
        pretrained_checkpoint: join(world, "taskemb_resnet_rm.pth"),
      },
    },
    { size: 4 },
  );
  const { taskDescriptions } = await env.reset();
  assert.ok(taskDescriptions.every((sentence) => frames.tasks.includes(sentence)));
  const { observation, rewards } = await env.step(zeros([4, 8, 7]));
  assert.deepEqual(observation.mainImages.shape, [4, 16, 16, 3]);
  assert.ok(rewards.toArray().every((value) => Number.isFinite(Number(value))));
  await env.close();
});
