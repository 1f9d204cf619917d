import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readSafetensors } from "#formats";
import { xorshift32 } from "#random";
import { cat, noGrad, type Tensor, tensor } from "#tensor";
import { wanParts } from "#worlds";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { openWorld, recognizedWorld } from "../open-world.ts";
import { refreshSettings, refreshWorld } from "../refresh/refresh.ts";
import { measureAutoencoder } from "../reward-model/autoencoder-truth.ts";
import { openRewardModel } from "../reward-model/open-reward-model.ts";
import { rewardModelSettings, trainRewardModel } from "../reward-model/training.ts";
import { measureTruth } from "../truth/truth.ts";
import { RecordedTruth } from "../truth/truth-source.ts";
import { trainWanAutoencoder, wanAutoencoderSettings } from "./autoencoder.ts";
import { trainWanDenoiser, wanDenoiserSettings } from "./denoiser.ts";
import { windowLatents } from "./latents.ts";
import { throughVideoAutoencoder } from "./through-video.ts";
import { WanWindows } from "./windows.ts";

const frames = new RecordedFrames([tinyRecording(12)], "cpu");
const world = mkdtempSync(join(tmpdir(), "reverie-wan-"));
const quick = { lr_warmup_steps: 2, ema_decay: 0.5, lr: 3e-3 };

async function lossesOf(
  train: (hooks: { reportEvery: number; onProgress: (progress: { loss: number }) => void }) => Promise<void>,
): Promise<number[]> {
  const seen: number[] = [];
  await train({ reportEvery: 1, onProgress: ({ loss }) => void seen.push(loss) });
  return seen;
}

test("a window is the first picture, the last four and the next eight, with the actions that led to them", () => {
  const windows = new WanWindows(frames, 8);
  const chosen = windows.choose(16, xorshift32(3));
  const [video, actions] = [windows.video(chosen), windows.actions(chosen)];
  assert.deepEqual(video.shape, [16, 3, 13, 16, 16]);
  assert.deepEqual(actions.shape, [16, 13, 7]);
  assert.deepEqual(actions.select(1, 0).toArray().slice(0, 7), [0, 0, 0, 0, 0, 0, -1]);
});

test("latents of windows are the same whether all are encoded before or each when it is drawn", () => {
  const windows = new WanWindows(frames, 8);
  const chosen = windows.choose(5, xorshift32(4));
  let encoded = 0;
  const encode = (video: Tensor): Tensor => {
    encoded += video.shape[0]!;
    return video.mean([3, 4]).unsqueeze(3);
  };
  const [table, drawn] = [windows.count, 1].map((draws) =>
    windowLatents(windows, encode, { device: "cpu", draws }),
  );
  assert.equal(encoded, windows.count + 1); // one to know the shape
  assert.deepEqual(table!(chosen).toArray(), drawn!(chosen).toArray());
  assert.equal(encoded, windows.count + 1 + 5);
});

test("a Wan world learns, and its folder opens, imagines and is judged as it is", async () => {
  const vae = wanAutoencoderSettings.parse({
    ...quick,
    steps: 12,
    batch_size: 4,
    z_dim: 4,
    vae_dim: 4,
    vae_dec_dim: 4,
    dim_mult: [1, 1, 2, 2],
  });
  const first = await lossesOf((hooks) => trainWanAutoencoder(frames, vae, world, hooks));
  assert.ok(first.at(-1)! < first[0]!, `autoencoder ${first[0]} to ${first.at(-1)}`);
  const dit = { dim: 24, num_heads: 2, ffn_dim: 32, num_layers: 1, sigma_shift: 3, patch_size: [1, 1, 1] };
  const denoiser = wanDenoiserSettings.parse({ ...quick, ...dit, steps: 25, batch_size: 8 });
  const second = await lossesOf((hooks) => trainWanDenoiser(frames, denoiser, world, hooks));
  assert.ok(second.at(-1)! < second[0]!, `denoiser ${second[0]} to ${second.at(-1)}`);
  await trainRewardModel(
    frames,
    rewardModelSettings.parse({ ...quick, steps: 2, batch_size: 4, widths: [4, 4, 4, 4] }),
    world,
  );
  assert.equal((await recognizedWorld(world)).name, "wan");
  const opened = await openWorld(world, { device: "cpu", size: frames.size, samplingSteps: 2 });
  const source = new RecordedTruth(frames, { episodes: 3, chunk: 8 });
  const options = { chunks: 1, batch: 3, threshold: 0.5, holdFrames: 1, seed: 0 };
  const report = await measureTruth(opened, openRewardModel(world, "cpu"), source, options);
  assert.ok(report.frames.every(({ psnr }) => Number.isFinite(psnr)));
});

test("a Wan autoencoder of three levels learns, its denoiser on patches, and its folder imagines", async () => {
  const finer = join(world, "..", "finer-wan");
  const sizes = { z_dim: 4, vae_dim: 4, vae_dec_dim: 4, dim_mult: [1, 2, 2] };
  const vae = wanAutoencoderSettings.parse({ ...quick, ...sizes, steps: 12, batch_size: 4 });
  const first = await lossesOf((hooks) => trainWanAutoencoder(frames, vae, finer, hooks));
  assert.ok(first.at(-1)! < first[0]!, `autoencoder ${first[0]} to ${first.at(-1)}`);
  const dit = { dim: 24, num_heads: 2, ffn_dim: 32, num_layers: 1, patch_size: [1, 2, 2] };
  const denoiser = wanDenoiserSettings.parse({ ...quick, ...dit, steps: 25, batch_size: 8 });
  const second = await lossesOf((hooks) => trainWanDenoiser(frames, denoiser, finer, hooks));
  assert.ok(second.at(-1)! < second[0]!, `denoiser ${second[0]} to ${second.at(-1)}`);
  const opened = await openWorld(finer, { device: "cpu", size: frames.size, samplingSteps: 2 });
  const source = new RecordedTruth(frames, { episodes: 2, chunk: 8 });
  const rewardModel = openRewardModel(world, "cpu");
  const options = { chunks: 1, batch: 2, threshold: 0.5, holdFrames: 1, seed: 0 };
  const report = await measureTruth(opened, rewardModel, source, options);
  assert.ok(report.frames.every(({ psnr }) => Number.isFinite(psnr)));
});

test("pictures or latents that do not divide are refused, with what would", async () => {
  const levels = wanAutoencoderSettings.parse({ ...quick, dim_mult: [1, 1, 2, 2, 2] });
  await assert.rejects(trainWanAutoencoder(frames, levels, world), /16 × 16 cannot be made 32 times smaller/);
  const patches = wanDenoiserSettings.parse({ ...quick, dim: 24, num_heads: 2, patch_size: [1, 2, 2] });
  await assert.rejects(trainWanDenoiser(frames, patches, world), /does not divide latents of 1 × 1/);
});

test("levels that do not end on one width twice are refused", () => {
  assert.throws(() => wanAutoencoderSettings.parse({ dim_mult: [1, 2, 4] }), /the last two levels/);
});

test("an episode is seen through a Wan autoencoder chunk by chunk, and each remembers what was shown", () => {
  const [{ first, length } = { first: 0, length: 0 }] = frames.episodes;
  const seen = throughVideoAutoencoder(world, frames).episode({ first, length });
  assert.deepEqual(seen.shape, [length, 3, 16, 16]); // 12 actions: one chunk and a half
  const model = join(world, "model-00001.safetensors");
  const vae = wanParts.loadAutoencoder(join(world, "Wan2.2_VAE.pth"), wanParts.readWanSizes(model), {
    device: "cpu",
  });
  const largest = (x: Tensor): number => Number(x.abs().amax().item());
  const rows = (from: number, count: number): Tensor =>
    frames.pick(
      tensor(BigInt64Array.from({ length: count }, (_, i) => BigInt(first + Math.min(from + i, length)))),
    );
  const chunk = (remembered: Tensor, from: number): Tensor => {
    const window = cat([rows(0, 1), remembered, rows(from, 8)], 0)
      .transpose(0, 1)
      .unsqueeze(0);
    return noGrad(() => vae.decode(vae.encode(window)))
      .squeeze(0)
      .transpose(0, 1)
      .narrow(0, 5, 8);
  };
  const begun = chunk(rows(0, 1).expand([4, -1, -1, -1]), 1);
  assert.ok(largest(seen.narrow(0, 0, 8).sub(begun)) < 1e-4);
  const goneOn = (remembered: Tensor): number =>
    largest(seen.narrow(0, 8, 4).sub(chunk(remembered, 9).narrow(0, 0, 4)));
  assert.ok(goneOn(begun.narrow(0, 4, 4)) < 1e-4);
  assert.ok(goneOn(rows(5, 4)) > 1e-4); // the ground truth instead
});

test("an autoencoder alone is measured on the episodes of the meter, as far as the world imagines", async () => {
  const looked: number[] = [];
  const rewardModel = openRewardModel(world, "cpu");
  const watching = Object.assign(Object.create(rewardModel) as typeof rewardModel, {
    judge: (...asked: Parameters<typeof rewardModel.judge>) => {
      looked.push(asked[0].shape[0]!);
      return rewardModel.judge(...asked);
    },
  });
  const source = new RecordedTruth(frames, { episodes: 5, chunk: 8 });
  const how = { source, episodes: 100, horizon: 8, threshold: 0.5, holdFrames: 1 };
  const { episodes, psnr, agreement } = await measureAutoencoder(world, watching, frames, how);
  assert.equal(episodes, 5);
  assert.equal(agreement.of, 5);
  assert.deepEqual(looked, [8, 8, 8, 8, 8]); // of 12 recorded actions each
  assert.ok(psnr > 3 && psnr < 60, `${psnr} dB`);
});

test("a Wan world is refreshed from where it was: little learning changes its denoiser little", async () => {
  const weights = (): number[] =>
    readSafetensors(join(world, "model-00001.safetensors")).get("head.head.weight")!.toArray().map(Number);
  const settings = refreshSettings.parse({
    steps: 2,
    judge_steps: 1,
    batch_size: 4,
    lr: 1e-3,
    episodes: 3,
    chunks: 1,
    batch: 3,
    tolerance: 1,
  });
  const before = weights();
  const { accepted } = await refreshWorld(world, frames, frames, settings);
  assert.ok(accepted);
  const moved = weights().map((value, i) => Math.abs(value - before[i]!));
  assert.ok(Math.max(...moved) > 0, "nothing was learned");
  assert.ok(Math.max(...moved) < 0.01, `moved by ${Math.max(...moved)}`); // fresh weights would differ by their size
  assert.ok(Math.max(...before.map(Math.abs)) > 0.01);
});
