import assert from "node:assert/strict";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { xorshift32 } from "#random";
import { clockWorld } from "../../../test/support/clock-world.ts";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { evacAutoencoderSettings, trainEvacAutoencoder } from "../evac/autoencoder.ts";
import { trainEvacDenoiser } from "../evac/denoiser.ts";
import { recallOf } from "../evac/lessons.ts";
import { evacDenoiserSettings } from "../evac/settings.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import type { LoopHooks } from "../learning/training-loop.ts";
import { openSoraAutoencoderSettings, trainOpenSoraAutoencoder } from "../opensora/autoencoder.ts";
import { openSoraDenoiserSettings, trainOpenSoraDenoiser } from "../opensora/denoiser.ts";
import { trainWanAutoencoder, wanAutoencoderSettings } from "../wan/autoencoder.ts";
import { trainWanDenoiser, wanDenoiserSettings } from "../wan/denoiser.ts";
import { WanWindows } from "../wan/windows.ts";
import { dreamtFrames } from "./dreamt-frames.ts";
import { ImaginedMemory } from "./imagined-memory.ts";
import { WindowSampler } from "./window-sampler.ts";

const chunk = 4;
const episodes = 6;
const frames = new RecordedFrames([tinyRecording(episodes, 13)], "cpu");
const length = 13;
const imagined = async (share: number): Promise<ImaginedMemory> => {
  const dreamt = await dreamtFrames(clockWorld(chunk, frames.size), frames, { episodes: 3, seed: 1 });
  return new ImaginedMemory(frames, dreamt, share);
};

test("every window of an imagined episode from the second chunk on remembers what was imagined", async () => {
  const memory = await imagined(1);
  const firsts = [0, 2, 4].map((episode) => episode * (length + 1));
  const expected = firsts.flatMap((first) => [4, 5, 6, 7, 8, 9].map((start) => ({ first, start })));
  assert.deepEqual(
    memory.windows(),
    expected.map((window, number) => ({ number, ...window })),
  );
});

test("a memory's rows are what was imagined after as many actions, but for the episode's first frame; new rows are recorded ones", async () => {
  const memory = await imagined(1);
  const sampler = new WindowSampler(frames, { memory: 4, chunk, recall: recallOf(4), imagined: memory });
  const rows = sampler.draw(30, xorshift32(2));
  const [remembered, fresh] = [rows.memory.toArray().map(Number), rows.fresh.toArray().map(Number)];
  const gray = memory.dreamt.pictures.select(3, 0).select(2, 0).select(1, 0).toArray().map(Number);
  for (let i = 0; i < 30; i++) {
    const [first, ...others] = remembered.slice(4 * i, 4 * i + 4);
    assert.equal(first! % (length + 1), 0); // a recorded first frame
    const start = fresh[chunk * i]! - 1 - first!;
    assert.ok(start >= chunk && start <= length - chunk, `${start} actions went before`);
    assert.deepEqual(
      others.map((row) => (row === first ? 0 : gray[row - frames.count])),
      recallOf(4)(start).slice(1),
    );
    assert.ok(fresh.slice(chunk * i, chunk * i + chunk).every((row, c) => row === first! + start + 1 + c));
  }
});

test("half of the lessons remember what was imagined where half are asked for", async () => {
  const sampler = new WindowSampler(frames, { memory: 4, chunk, imagined: await imagined(0.5) });
  const rows = sampler.draw(400, xorshift32(5)).memory.toArray().map(Number);
  const share = rows.filter((row) => row >= frames.count).length / rows.length;
  assert.ok(Math.abs(share - 0.5) < 0.08, `${share}`);
});

test("a Wan window keeps the first picture and the new ones, and shows the last four as they were imagined", async () => {
  const memory = await imagined(1);
  const windows = new WanWindows(frames, chunk, 0, memory);
  const recorded = new WanWindows(frames, chunk).all();
  const all = windows.all();
  assert.deepEqual(
    all.map(({ number }) => number),
    all.map((_, place) => place),
  );
  assert.equal(windows.count, recorded.length + memory.count);
  const shown = windows.video(all.slice(recorded.length));
  for (const [i, { first, start }] of memory.windows().entries()) {
    const plain = recorded.find(
      ({ pictures }) => pictures[0] === first && pictures[5] === first + start + 1,
    )!;
    const truth = new WanWindows(frames, chunk).video([plain]).squeeze(0);
    const seen = shown.select(0, i);
    for (const picture of [0, 5, 6, 7, 8])
      assert.deepEqual(seen.select(1, picture).toArray(), truth.select(1, picture).toArray());
    const grays = [1, 2, 3, 4].map((picture) => Number(seen.select(1, picture).mean().item()));
    assert.deepEqual(
      grays.map((value) => Math.round((value + 1) * 127.5)),
      [3, 2, 1, 0].map((ago) => start - ago),
    );
    assert.deepEqual(all[recorded.length + i]!.actions, plain.actions);
  }
});

const quick = { lr_warmup_steps: 2, ema_decay: 0.5, lr: 3e-3, batch_size: 8 };
const longer = new RecordedFrames([tinyRecording(8, 24)], "cpu");

interface Family {
  readonly name: string;
  autoencoder(world: string): Promise<void>;
  denoiser(world: string, more: object, hooks?: LoopHooks): Promise<void>;
}

const dit = { dim: 24, num_heads: 2, ffn_dim: 32, num_layers: 1 };
const tiny = { z_dim: 4, vae_dim: 4, vae_dec_dim: 4, dim_mult: [1, 2, 2] };
const stdit = { depth: 1, hidden_size: 32, num_heads: 2, patch_size: [1, 2, 2] };
const unet = {
  model_channels: 32,
  context_dim: 32,
  clip_width: 32,
  predictor_steps: 5,
  predictor_batch_size: 8,
};
const families: readonly Family[] = [
  {
    name: "OpenSora",
    autoencoder: (world) => {
      const own = { ...quick, steps: 6, block_out_channels: [8, 16], norm_num_groups: 4 };
      return trainOpenSoraAutoencoder(longer, openSoraAutoencoderSettings.parse(own), world);
    },
    denoiser: (world, more, hooks) =>
      trainOpenSoraDenoiser(
        longer,
        openSoraDenoiserSettings.parse({ ...quick, ...stdit, ...more }),
        world,
        hooks,
      ),
  },
  {
    name: "Wan",
    autoencoder: (world) =>
      trainWanAutoencoder(longer, wanAutoencoderSettings.parse({ ...quick, ...tiny, steps: 4 }), world),
    denoiser: (world, more, hooks) =>
      trainWanDenoiser(longer, wanDenoiserSettings.parse({ ...quick, ...dit, ...more }), world, hooks),
  },
  {
    name: "EVAC",
    autoencoder: (world) => {
      const own = { ...quick, steps: 6, ch: 8, ch_mult: [1, 2, 2], norm_num_groups: 4, z_channels: 4 };
      return trainEvacAutoencoder(longer, evacAutoencoderSettings.parse(own), world);
    },
    denoiser: (world, more, hooks) =>
      trainEvacDenoiser(longer, evacDenoiserSettings.parse({ ...quick, ...unet, ...more }), world, hooks),
  },
];

for (const { name, autoencoder, denoiser } of families) {
  test(`${name}: a denoiser goes on from what its own world imagined, and a new one is told to begin without`, async () => {
    const world = mkdtempSync(join(tmpdir(), "reverie-memory-"));
    await autoencoder(world);
    await assert.rejects(denoiser(world, { steps: 1, imagined_share: 0.5 }), /cannot imagine yet/);
    await denoiser(world, { steps: 3 });
    const copy = mkdtempSync(join(tmpdir(), "reverie-memory-"));
    cpSync(world, copy, { recursive: true });
    const losses: number[] = [];
    const said: string[] = [];
    const more = { steps: 20, init_from: world, imagined_share: 1, imagined_episodes: 5 };
    await denoiser(copy, more, {
      reportEvery: 1,
      onProgress: ({ loss }) => void losses.push(loss),
      say: (line) => void said.push(line),
    });
    assert.ok(said.includes("imagined 5 of 5 recorded episodes"), said.join());
    const [early, late] = [losses.slice(0, 8), losses.slice(-8)].map((part) => part.reduce((a, b) => a + b));
    assert.ok(late! < early!, `${early} to ${late}`);
  });
}
