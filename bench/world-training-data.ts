/** Recordings for the bench of world training: random pictures and actions, made in memory. */
import type { Demonstrations } from "#recordings";
import { type Device, Generator, ones, rand, randint, type Tensor, zeros } from "#tensor";
import { RecordedFrames } from "../src/world-training/frames/recorded-frames.ts";

/** Episodes of `length` actions; every second frame shows success, so that a reward model has both kinds. */
export function randomRecordings(
  device: Device,
  { episodes, length, side }: { episodes: number; length: number; side: number },
): RecordedFrames {
  const generator = new Generator(1);
  const frames = episodes * (length + 1);
  const shard = new Map<string, Tensor>([
    ["main_images", randint(0, 256, [frames, side, side, 3], { generator }).to({ dtype: "uint8" })],
    ["actions", rand([frames, 7], { generator }).mul(2).sub(1)],
    ["success", randint(0, 2, [frames], { generator }).float()],
    ["states", zeros([frames, 8])],
    ["goals", ones([frames], { dtype: "int64" })],
  ]);
  const recorded = Array.from({ length: episodes }, (_, i) => ({
    shard: 0,
    firstFrame: i * (length + 1),
    length,
    task: i % 2,
  }));
  const info = { width: side, height: side, tasks: ["one", "other"], shards: [{ frames }] };
  const set = { info, shards: [shard], episodes: recorded } as unknown as Demonstrations;
  return new RecordedFrames([set], device);
}
