/** The world in checkpoints/, beside the simulator that it imitates. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openDemonstrations, recordingSettings } from "#recordings";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { openWorld } from "../open-world.ts";
import { recordEpisodes } from "../recording/recording.ts";
import { openRewardModel } from "../reward-model/open-reward-model.ts";
import { measureTruth } from "../truth/truth.ts";
import { RecordedTruth } from "../truth/truth-source.ts";

const shipped = fileURLToPath(new URL("../../../checkpoints/opensora-tabletop-object", import.meta.url));
const out = mkdtempSync(join(tmpdir(), "reverie-shipped-world-"));
after(() => rmSync(out, { recursive: true }));

test("the shipped world imagines fresh episodes as the simulator plays them", async () => {
  const settings = recordingSettings.parse({
    suite: "tabletop_object",
    seed: 77,
    clean_share: 1,
    wrong_share: 0,
  });
  await recordEpisodes({ order: { settings }, episodes: 6, workers: 1, out });
  const frames = new RecordedFrames([openDemonstrations(out)], "cpu");
  const world = await openWorld(shipped, { device: "cpu", size: frames.size, samplingSteps: 2 });
  const source = new RecordedTruth(frames, { episodes: 6, chunk: world.chunk });
  const options = { chunks: 3, batch: 6, threshold: 0.8, holdFrames: 1, seed: 0 };
  const truth = await measureTruth(world, openRewardModel(shipped, "cpu"), source, options);
  assert.ok(truth.firstChunkPsnr > 24, `${truth.firstChunkPsnr} dB`);
  assert.ok(truth.judge.real.auc > 0.95, `the reward model's AUC on real frames is ${truth.judge.real.auc}`);
  assert.ok(
    truth.agreement.count >= 5,
    `dream and simulator agree on ${truth.agreement.count} of 6 outcomes`,
  );
});
