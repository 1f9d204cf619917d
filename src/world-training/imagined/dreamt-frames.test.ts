import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clockWorld } from "../../../test/support/clock-world.ts";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { openSoraAutoencoderSettings, trainOpenSoraAutoencoder } from "../opensora/autoencoder.ts";
import { openSoraDenoiserSettings, trainOpenSoraDenoiser } from "../opensora/denoiser.ts";
import { rewardModelSettings, trainRewardModel } from "../reward-model/training.ts";
import { dreamtFrames } from "./dreamt-frames.ts";

const frames = new RecordedFrames([tinyRecording(20)], "cpu");
const [height, width] = frames.size;
const brief = { steps: 12, batch_size: 16, lr: 3e-3, lr_warmup_steps: 2, ema_decay: 0 };

const clock = clockWorld(4, frames.size);

test("every imagined frame stands beside the row that followed from as many actions of the same episode", async () => {
  const { rows, pictures } = await dreamtFrames(clock, frames, { episodes: 7, seed: 1 });
  assert.deepEqual(pictures.shape, [rows.length, height, width, 3]);
  const gray = pictures.select(3, 0).select(2, 0).select(1, 0).toArray().map(Number);
  const firstOf = (row: number): number =>
    Math.max(...frames.episodes.map(({ first }) => first).filter((first) => first <= row));
  assert.deepEqual(
    gray,
    rows.map((row) => row - firstOf(row)),
  );
  assert.equal(new Set(rows.map(firstOf)).size, 7);
  const last = firstOf(rows.at(-1)!);
  assert.ok(last > frames.count / 2, "the episodes are not spread over the recordings");
});

const world = mkdtempSync(join(tmpdir(), "reverie-dreamt-frames-"));

test("a reward model learns from what its world imagined alone", async () => {
  const vae = { ...brief, block_out_channels: [8, 16], norm_num_groups: 4 };
  await trainOpenSoraAutoencoder(frames, openSoraAutoencoderSettings.parse(vae), world);
  const dit = { ...brief, depth: 1, hidden_size: 32, num_heads: 2, patch_size: [1, 2, 2] };
  await trainOpenSoraDenoiser(frames, openSoraDenoiserSettings.parse(dit), world);
  const wishes = { ...brief, steps: 40, widths: [8, 8, 8, 8], decoded_share: 0, dreamt_share: 1 };
  const losses: number[] = [];
  const said: string[] = [];
  await trainRewardModel(frames, rewardModelSettings.parse({ ...wishes, dreamt_episodes: 9 }), world, {
    reportEvery: 1,
    onProgress: ({ loss }) => void losses.push(loss),
    say: (line) => void said.push(line),
  });
  assert.deepEqual(said, ["imagined 9 of 9 recorded episodes"]);
  const [early, late] = [losses.slice(0, 5), losses.slice(-5)].map((part) => part.reduce((a, b) => a + b));
  assert.ok(late! < early!, `${early} to ${late}`);
});

test("shares of a reward model's lessons that are more than all of them are refused", async () => {
  const settings = rewardModelSettings.parse({ ...brief, decoded_share: 0.7, dreamt_share: 0.5 });
  await assert.rejects(trainRewardModel(frames, settings, world), /together at most 1/);
});
