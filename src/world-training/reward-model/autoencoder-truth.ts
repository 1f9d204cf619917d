/**
 * What a world's autoencoder does to the truth: recorded episodes encoded and decoded, nothing imagined, and judged.
 *
 * A denoiser can only say what its autoencoder can show. Where a can in the basket comes back as an empty basket, no training of the
 * denoiser helps, and a world's agreement with the simulator stays below this one.
 */
import type { RewardModel } from "#rewards";
import { scope } from "#tensor";
import { trainingOfWorld } from "../families.ts";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { psnr } from "../truth/meters.ts";
import {
  type AutoencoderTruth,
  type Outcome,
  outcomeRates,
  scoreFrames,
  type TruthOptions,
} from "../truth/truth.ts";
import { mean } from "../truth/truth-frames.ts";
import type { RecordedTruth } from "../truth/truth-source.ts";

export interface AutoencoderMeasure extends Pick<TruthOptions, "threshold" | "holdFrames"> {
  readonly source: RecordedTruth; // whose first episodes are seen
  readonly episodes: number; // of them, at most
  readonly horizon: number; // actions, as far as the world imagines
}

export async function measureAutoencoder(
  world: string,
  rewardModel: RewardModel,
  frames: RecordedFrames,
  { source, episodes, horizon, threshold, holdFrames }: AutoencoderMeasure,
): Promise<AutoencoderTruth> {
  const { episode: through } = await (await trainingOfWorld(world)).through(world, frames);
  const spans = source
    .spans(0, episodes)
    .map((span) => ({ ...span, length: Math.min(span.length, horizon) }));
  const outcomes: Outcome[] = [];
  const psnrs: number[] = [];
  for (const { first, length, task } of spans) {
    scope(() => {
      const rows = Array.from({ length }, (_, i) => first + 1 + i);
      const at = rowIndex(rows, frames);
      const seen = through({ first, length });
      const opinions = scoreFrames(rewardModel, seen, frames.tasks[task]!);
      outcomes.push({ task, opinions, truth: frames.success.indexSelect(0, at).toArray().some(Boolean) });
      psnrs.push(...psnr(seen, frames.pick(at)));
    });
    await new Promise(setImmediate);
  }
  return { episodes: spans.length, psnr: mean(psnrs), ...outcomeRates(outcomes, threshold, holdFrames) };
}
