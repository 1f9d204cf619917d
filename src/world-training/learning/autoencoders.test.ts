import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { noGrad } from "#tensor";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { evacAutoencoderSettings, trainEvacAutoencoder } from "../evac/autoencoder.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { openWorld } from "../open-world.ts";
import { openSoraAutoencoderSettings, trainOpenSoraAutoencoder } from "../opensora/autoencoder.ts";
import { openSoraDenoiserSettings, trainOpenSoraDenoiser } from "../opensora/denoiser.ts";
import { trainWanAutoencoder, wanAutoencoderSettings } from "../wan/autoencoder.ts";
import { readPictureAutoencoder } from "./picture-autoencoder.ts";
import type { LoopHooks } from "./training-loop.ts";

const frames = new RecordedFrames([tinyRecording(12)], "cpu");
const quick = { lr_warmup_steps: 2, ema_decay: 0, lr: 4e-3, batch_size: 8 };
const folder = (): string => mkdtempSync(join(tmpdir(), "reverie-autoencoder-"));

type Wishes = { readonly steps: number; readonly init_from?: string };
const families: Readonly<Record<string, (wishes: Wishes, world: string, hooks: LoopHooks) => Promise<void>>> =
  {
    opensora: (wishes, world, hooks) =>
      trainOpenSoraAutoencoder(
        frames,
        openSoraAutoencoderSettings.parse({
          ...quick,
          ...wishes,
          block_out_channels: [8, 16],
          norm_num_groups: 4,
        }),
        world,
        hooks,
      ),
    wan: (wishes, world, hooks) =>
      trainWanAutoencoder(
        frames,
        wanAutoencoderSettings.parse({
          ...quick,
          ...wishes,
          z_dim: 4,
          vae_dim: 4,
          vae_dec_dim: 4,
          dim_mult: [1, 1, 2, 2],
        }),
        world,
        hooks,
      ),
    evac: (wishes, world, hooks) =>
      trainEvacAutoencoder(
        frames,
        evacAutoencoderSettings.parse({
          ...quick,
          ...wishes,
          ch: 8,
          ch_mult: [1, 2],
          norm_num_groups: 4,
          z_channels: 4,
        }),
        world,
        hooks,
      ),
  };

for (const [family, train] of Object.entries(families)) {
  test(`an autoencoder of ${family} goes on from a world's: its first loss there is lower than a fresh one's`, async () => {
    const losses = async (wishes: Wishes, world: string): Promise<number[]> => {
      const seen: number[] = [];
      await train(wishes, world, { reportEvery: 1, onProgress: ({ loss }) => void seen.push(loss) });
      return seen;
    };
    const world = folder();
    const fresh = await losses({ steps: 25 }, world);
    const [first = Number.NaN] = await losses({ steps: 1, init_from: world }, folder());
    assert.ok(first < 0.8 * fresh[0]!, `${first} after ${fresh[0]} and ${fresh.at(-1)}`);
  });
}

test("EVAC's autoencoder can be the beginning of OpenSora's, and Wan's cannot", async () => {
  const [evac, wan] = [folder(), folder()];
  await families.evac!({ steps: 1 }, evac, {});
  await families.wan!({ steps: 1 }, wan, {});
  const sizes = { block_out_channels: [8, 16], norm_num_groups: 4, latent_channels: 4 };
  const from = (init_from: string, world: string): Promise<void> =>
    trainOpenSoraAutoencoder(
      frames,
      openSoraAutoencoderSettings.parse({ ...quick, ...sizes, steps: 1, init_from, lr: 1e-9 }),
      world,
    );
  const world = folder();
  await from(evac, world);
  const [theirs, own] = await Promise.all(
    [evac, world].map((each) => readPictureAutoencoder(each, { device: "cpu" })),
  );
  const shown = frames.pick(frames.every(5));
  const apart = noGrad(() =>
    theirs!
      .decode(theirs!.encode(shown))
      .sub(own!.decode(own!.encode(shown)))
      .abs()
      .max(),
  );
  assert.ok(Number(apart.item()) < 0.05, `${apart.item()}`); // stored in bfloat16, twice
  await assert.rejects(from(wan, folder()), /one of videos/);
});

test("an OpenSora world with other latent channels than the published ones opens and imagines", async () => {
  const world = folder();
  const vae = { ...quick, steps: 3, block_out_channels: [8, 16], norm_num_groups: 4, latent_channels: 6 };
  await trainOpenSoraAutoencoder(frames, openSoraAutoencoderSettings.parse(vae), world);
  const dit = { depth: 1, hidden_size: 32, num_heads: 2, patch_size: [1, 2, 2], steps: 2 };
  await trainOpenSoraDenoiser(frames, openSoraDenoiserSettings.parse({ ...quick, ...dit }), world);
  const opened = await openWorld(world, { device: "cpu", size: frames.size, samplingSteps: 2 });
  assert.equal(opened.encodeFrames!(frames.pick(frames.every(1)).narrow(0, 0, 8).unsqueeze(0)).shape[1], 6);
});
