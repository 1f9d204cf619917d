/**
 * `world evaluate`: measures a world against recordings, or against the simulator under a policy that acts in the dream.
 *
 * Writes a report, a table, a plot and a video beside the world (or into --out).
 */
import { join } from "node:path";
import { z } from "zod";
import { robosuiteActions } from "#data";
import { makeFolder, replaceFile, writeJsonFile } from "#formats";
import { loadPolicy } from "#policies";
import { type Demonstrations, openDemonstrations } from "#recordings";
import { UserError } from "#registry";
import type { Device } from "#tensor";
import {
  measureAutoencoder,
  measureTruth,
  openRewardModel,
  openWorld,
  RecordedFrames,
  RecordedTruth,
  type SideBySide,
  SimulatedTruth,
  sideBySide,
  type TruthSource,
  truthPlot,
  truthTable,
  writeSideBySide,
} from "#world-training";
import type { World } from "#worlds";
import { checked } from "../option-values.ts";
import type { WorldArguments } from "./arguments.ts";
import { policySection } from "./policy-section.ts";

export const evaluationSettings = z.strictObject({
  episodes: z.int().positive().default(256),
  chunks: z.int().positive().default(5).describe("imagined per episode"),
  batch: z.int().positive().default(64).describe("episodes imagined together"),
  num_sampling_steps: z.int().positive().nullish(),
  threshold: z.number().min(0).max(1).default(0.8),
  hold_frames: z.int().positive().default(1),
  temperature: z.number().min(0).default(1).describe("of the policy; 0 is greedy"),
  size: z.int().positive().default(64).describe("width and height of pictures, for a policy's dreams"),
  videos: z.int().min(0).default(12).describe("episodes in the video"),
  autoencoder_episodes: z
    .int()
    .min(0)
    .default(100)
    .describe("recorded ones that are also judged through the autoencoder alone"),
  seed: z.int().min(0).default(0),
});
type EvaluationSettings = z.infer<typeof evaluationSettings>;

export async function evaluate(wishes: WorldArguments): Promise<void> {
  const settings = checked(evaluationSettings, wishes.settings);
  const { device, world: folder } = wishes;
  const out = wishes.out === undefined ? folder : makeFolder(wishes.out); // before the time that measuring takes
  const sets = wishes.data.map(openDemonstrations);
  const frames = sets.length > 0 ? new RecordedFrames(sets, device) : undefined;
  if (sets.some(stopsEarly)) console.log(earlyNote);
  const size = frames?.size ?? ([settings.size, settings.size] as const);
  const samplingSteps = settings.num_sampling_steps ?? undefined;
  const world = await openWorld(folder, { device, size, samplingSteps });
  const recorded = frames && new RecordedTruth(frames, { episodes: settings.episodes, chunk: world.chunk });
  const source = recorded ?? (await simulated(wishes, settings, device));
  const films: SideBySide[] = [];
  const rewardModel = openRewardModel(folder, device);
  const report = await measureTruth(world, rewardModel, source, {
    ...optionsOf(settings),
    onProgress: (done, total) => console.log(`${done} of ${total} episodes`),
    onGroup: (dreamt, truths, tasks) => {
      for (const [b, truth] of truths.entries())
        if (films.length < settings.videos)
          films.push(sideBySide(dreamt, b, truth, source.tasks[tasks[b]!]!));
    },
  });
  const alone = settings.autoencoder_episodes;
  const seen = { ...optionsOf(settings), episodes: alone, horizon: settings.chunks * world.chunk };
  const autoencoder =
    recorded && alone > 0
      ? await measureAutoencoder(folder, rewardModel, frames, { ...seen, source: recorded })
      : undefined;
  const name = frames ? "truth" : "truth-policy";
  writeJsonFile(join(out, `${name}.json`), { ...about(wishes, world, settings), ...report, autoencoder });
  const { svg, png } = await truthPlot(report);
  replaceFile(join(out, `${name}.png`), [png]);
  replaceFile(join(out, `${name}.svg`), [Buffer.from(svg)]);
  console.log(truthTable(report, autoencoder));
  await film(join(out, `${name}.mp4`), films);
}

/** Whether its episodes stop before their time is up once something was achieved. */
function stopsEarly({ info: { settings } }: Demonstrations): boolean {
  const { steps, steps_after_success: after } = settings;
  return typeof steps === "number" && typeof after === "number" && after < steps;
}

const earlyNote =
  "note: these episodes stop soon after success, so a dream that is later than they are long is counted as one that missed it; " +
  "record them to their ends: world collect … --set steps_after_success=STEPS";

const optionsOf = ({ chunks, batch, threshold, hold_frames: holdFrames, seed }: EvaluationSettings) => ({
  chunks,
  batch,
  threshold,
  holdFrames,
  seed,
});

const about = ({ data, policy, suite }: WorldArguments, world: World, settings: EvaluationSettings) => ({
  world: world.name,
  against: data.length > 0 ? "recordings" : "simulator",
  ...(policy !== undefined && { policy, suite }),
  settings,
});

async function simulated(
  { policy, suite, modelKeys }: WorldArguments,
  { size, episodes, seed, temperature }: EvaluationSettings,
  device: Device,
): Promise<TruthSource> {
  if (policy === undefined || suite === undefined) {
    throw new UserError(
      "evaluate against what? give --data DIR (recordings), or --suite NAME --policy DIR (the simulator)",
    );
  }
  const actor = await loadPolicy(await policySection(policy, suite, modelKeys), {
    device,
    actionSpec: robosuiteActions,
  });
  return new SimulatedTruth(actor, { suite, size, episodes, seed, temperature });
}

async function film(path: string, episodes: readonly SideBySide[]): Promise<void> {
  try {
    await writeSideBySide(path, episodes);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    console.log(`no video: ${error.message}`); // the numbers stand without it
  }
}
