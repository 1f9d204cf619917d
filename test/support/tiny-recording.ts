/**
 * A recording so simple that a tiny world can learn it in seconds: a bright square that moves as it is told.
 *
 * 16-pixel pictures; action 0 moves the square right by as many pixels as it says, action 1 down. Task 0 succeeds while
 * the square touches the right edge, task 1 while it touches the lower one.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Demonstrations, openDemonstrations } from "#recordings";
import { formatName, infoPath, shardPath } from "../../src/recordings/demonstrations/layout.ts";
import { ShardRecorder } from "../../src/recordings/demonstrations/recorder.ts";

const side = 16;
const square = 4;
const tasks = ["go right", "go down"];

export function tinyRecording(episodes: number, steps = 12): Demonstrations {
  const folder = mkdtempSync(join(tmpdir(), "reverie-recording-"));
  const recorder = new ShardRecorder({ width: side, height: side, wrist: false });
  for (let episode = 0; episode < episodes; episode++) recordEpisode(recorder, episode, steps);
  recorder.write(shardPath(folder, 0));
  const shards = [{ episodes, frames: recorder.frames, attempts: episodes }];
  const size = { width: side, height: side, wrist: false, fps: 20 };
  const info = {
    format: formatName,
    version: 1,
    pack: "toy",
    suite: "toy",
    tasks,
    ...size,
    shards,
    settings: {},
    camera: { position: [0, 0, 1], orientation: [1, 0, 0, 0], fovy: 90 },
  };
  writeFileSync(infoPath(folder), JSON.stringify(info));
  return openDemonstrations(folder);
}

function recordEpisode(recorder: ShardRecorder, episode: number, steps: number): void {
  const task = episode % 2;
  let [x, y] = [(episode * 5) % 12, (episode * 7) % 12];
  const reaches = (at: number): boolean => at >= side - square;
  const reached = (): boolean => reaches(task === 0 ? x : y);
  const goals = (): bigint => (reaches(x) ? 1n : 0n) | (reaches(y) ? 2n : 0n);
  const look = (): void =>
    recorder.addFrame({
      main: picture(x, y),
      state: hand(x, y),
      success: reached(),
      goals: goals(),
    });
  look();
  for (let step = 0; step < steps; step++) {
    const [right, down] = [((episode * 3 + step * 5) % 5) - 2, ((episode * 7 + step * 3) % 5) - 2];
    recorder.addAction([right, down, 0, 0, 0, 0, -1], [right, down, 0, 0, 0, 0, -1]);
    x = Math.min(Math.max(x + right, 0), side - square);
    y = Math.min(Math.max(y + down, 0), side - square);
    look();
  }
  recorder.endEpisode({ task, start: -1, seed: episode, succeeded: reached() });
}

/** The hand is the square, seen from above by a camera one meter over it: a meter is half a picture. */
const hand = (left: number, top: number): Float32Array => {
  const [x, y] = [left, top].map((at) => (at + square / 2 - side / 2) / (side / 2));
  return Float32Array.of(-x!, -y!, 0, 0, 0, 0, 0.02, -0.02);
};

function picture(left: number, top: number): Uint8Array {
  const data = new Uint8Array(side * side * 3).fill(40);
  for (let y = top; y < top + square; y++) {
    for (let x = left; x < left + square; x++) data.set([230, 200, 60], (y * side + x) * 3);
  }
  return data;
}
