/** Two policies at the same starts, left and right, one start after another: an MP4. */
import { Mp4Writer } from "#formats";
import { beside, Captions, type Rgb } from "#pictures";
import type { FilmedEpisode } from "#training";

export interface FilmedPairs {
  readonly before: readonly FilmedEpisode[];
  readonly after: readonly FilmedEpisode[]; // at the same starts, in the same order
  /** Of one episode's pictures. */
  readonly width: number;
  readonly height: number;
}

const fps = 15;
const pause = 12; // frames on the last picture of a pair
const gap = 8; // pixels between the two; even, as the encoder wants sizes
const captionRows = 3; // two for a long instruction, one for how it goes
const colors = { going: "#c9cdd4", success: "#8fd19e", failed: "#f0a58f" } as const;

export async function writePairs(path: string, { before, after, width, height }: FilmedPairs): Promise<void> {
  const captions = new Captions(width, captionRows);
  const size = { width: 2 * width + gap, height: height + captions.height };
  const writer = new Mp4Writer(path, { ...size, fps });
  const frameOf = frameMaker(captions, width, height);
  try {
    for (const [i, first] of before.entries()) {
      const second = after[i]!;
      const length = Math.max(first.frames.length, second.frames.length) + pause;
      for (let t = 0; t < length; t++)
        await writer.addFrame(beside([frameOf(first, t, "before"), frameOf(second, t, "after")], gap).data);
    }
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** A finished episode keeps showing its last picture, and how it ended. */
function frameMaker(captions: Captions, width: number, height: number) {
  return ({ frames, success, instruction }: FilmedEpisode, t: number, who: string): Rgb => {
    const at = Math.min(t, frames.length - 1);
    const state = t < frames.length - 1 ? "going" : success ? "success" : "failed";
    const text = `${who}: ${state === "going" ? `action ${at}` : state}`;
    const lines = [
      { text: instruction, strong: true },
      { text, color: colors[state] },
    ];
    return captions.below({ width, height, data: frames[at]! }, lines);
  };
}
