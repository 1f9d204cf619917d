/** For tests: a world of a tabletop suite so small that it is made in seconds. It imagines little, but everything about it is real. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeJsonFile } from "#formats";
import {
  type Demonstrations,
  infoPath,
  openDemonstrations,
  recordingSettings,
  ScriptedRecorder,
  shardPath,
} from "#recordings";
import { findSuite } from "#simulators";
import {
  RecordedFrames,
  rewardModelSettings,
  trainingOfFamily,
  trainRewardModel,
  writeStarts,
} from "#world-training";

const side = 16;

export interface ToyWorld {
  readonly world: string;
  readonly data: string;
}

/** `episodes` scripted ones, of at most 16 actions. */
export async function toyWorld(suite: string, episodes: number): Promise<ToyWorld> {
  const root = mkdtempSync(join(tmpdir(), "reverie-toy-world-"));
  const [data, world] = [join(root, "data"), join(root, "world")];
  mkdirSync(world);
  const frames = new RecordedFrames([await record(suite, episodes, data)], "cpu");
  const brief = { steps: 4, batch_size: 4, lr: 1e-3, lr_warmup_steps: 1, ema_decay: 0 };
  const vae = { block_out_channels: [8, 8], norm_num_groups: 4 };
  const { autoencoder, denoiser } = await trainingOfFamily("opensora");
  await autoencoder.train(frames, autoencoder.settings.parse({ ...brief, ...vae }), world);
  const dit = { depth: 1, hidden_size: 16, num_heads: 2, patch_size: [1, 4, 4] };
  await denoiser.train(frames, denoiser.settings.parse({ ...brief, ...dit }), world);
  await trainRewardModel(frames, rewardModelSettings.parse({ ...brief, widths: [4, 4, 4, 4] }), world);
  writeStarts(frames, world, { count: episodes });
  return { data, world };
}

async function record(suite: string, episodes: number, folder: string): Promise<Demonstrations> {
  mkdirSync(folder);
  const { tasks, pack } = findSuite(suite);
  const settings = recordingSettings.parse({ suite, size: side, steps: 16 });
  const recorder = new ScriptedRecorder(settings);
  const jobs = Array.from({ length: episodes }, (_, i) => ({ task: i % tasks.length, start: -1, seed: i }));
  const summary = await recorder.collect({ jobs, path: shardPath(folder, 0) }, () => {});
  const sentences = tasks.map(({ language }) => language);
  const about = { format: "reverie-demonstrations", version: 1, pack: pack.name, suite, tasks: sentences };
  const size = { width: side, height: side, wrist: false, fps: 20 };
  writeJsonFile(infoPath(folder), { ...about, ...size, shards: [summary], settings });
  return openDemonstrations(folder);
}
