/**
 * What a world's autoencoder does to the truth: recorded episodes encoded and decoded, nothing imagined, and judged.
 *
 * A denoiser can only say what its autoencoder can show. Where a can in the basket comes back as an empty basket, no training of the
 * denoiser helps, and a world's agreement with the simulator stays below this one.
 */
import type { RewardModel } from "#rewards";
import { scope, tensor } from "#tensor";
import { psnr } from "./meters.ts";
import type { RecordedFrames } from "./recorded-frames.ts";
import { episodeThroughAutoencoder } from "./through-autoencoder.ts";
import { judgeFrames, type Outcome, type TruthOptions, type Verdicts, verdicts } from "./truth.ts";
import { mean } from "./truth-frames.ts";
import { RecordedTruth } from "./truth-source.ts";

export interface AutoencoderTruth extends Verdicts {
  readonly episodes: number;
  readonly psnr: number; // dB, mean over frames
}

export async function measureAutoencoder(
  world: string,
  judge: RewardModel,
  frames: RecordedFrames,
  { episodes, threshold, holdFrames }: Pick<TruthOptions, "threshold" | "holdFrames"> & { episodes: number },
): Promise<AutoencoderTruth> {
  const through = episodeThroughAutoencoder(world, frames);
  const spans = new RecordedTruth(frames, { episodes, chunk: 1 }).spans(0, episodes);
  const outcomes: Outcome[] = [];
  const psnrs: number[] = [];
  for (const { first, length, task } of spans) {
    scope(() => {
      const rows = BigInt64Array.from({ length }, (_, i) => BigInt(first + 1 + i));
      const at = tensor(rows, { device: frames.device });
      const seen = through({ first, length });
      const opinions = judgeFrames(judge, seen, frames.tasks[task]!);
      outcomes.push({ task, opinions, truth: frames.success.indexSelect(0, at).toArray().some(Boolean) });
      psnrs.push(...psnr(seen, frames.pick(at)));
    });
    await new Promise(setImmediate);
  }
  return { episodes: spans.length, psnr: mean(psnrs), ...verdicts(outcomes, threshold, holdFrames) };
}
