/** Two policies at the same starts, left and right, one start after another: an MP4. */
import { type Rgb, writeOn } from "#envs";
import { Mp4Writer } from "#formats";
import type { FilmedEpisode } from "./filmed-episodes.ts";

export interface FilmedPairs {
  readonly before: readonly FilmedEpisode[];
  readonly after: readonly FilmedEpisode[]; // at the same starts, in the same order
  readonly pixels: number; // width and height of one picture
}

const fps = 15;
const pause = 10; // frames on the last picture of a pair
const gap = 8; // pixels between the two; even, as the encoder wants sizes

export async function writePairs(path: string, { before, after, pixels }: FilmedPairs): Promise<void> {
  const writer = new Mp4Writer(path, { width: 2 * pixels + gap, height: pixels, fps });
  try {
    for (const [i, first] of before.entries()) await addPair(writer, first, after[i]!, pixels);
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function addPair(
  writer: Mp4Writer,
  before: FilmedEpisode,
  after: FilmedEpisode,
  pixels: number,
): Promise<void> {
  const length = Math.max(before.frames.length, after.frames.length) + pause;
  for (let t = 0; t < length; t++) {
    const left = frameAt(before, t, pixels, "before");
    const right = frameAt(after, t, pixels, "after");
    await writer.addFrame(beside(left, right).data);
  }
}

/** A finished episode keeps showing its last picture, and how it ended. */
function frameAt(
  { frames, success, instruction }: FilmedEpisode,
  t: number,
  pixels: number,
  who: string,
): Rgb {
  const at = Math.min(t, frames.length - 1);
  const over = t >= frames.length - 1;
  const state = over ? (success ? "success" : "failed") : `action ${at}`;
  return writeOn({ width: pixels, height: pixels, data: frames[at]! }, [instruction, `${who}: ${state}`]);
}

function beside(left: Rgb, right: Rgb): Rgb {
  const width = left.width + gap + right.width;
  const data = new Uint8Array(3 * width * left.height).fill(255);
  for (const [picture, offset] of [
    [left, 0],
    [right, left.width + gap],
  ] as const)
    for (let y = 0; y < picture.height; y++)
      data.set(
        picture.data.subarray(3 * y * picture.width, 3 * (y + 1) * picture.width),
        3 * (y * width + offset),
      );
  return { width, height: left.height, data };
}
