/** Writes the first frames of recorded episodes as a world's starts: `dataset/traj*.npy`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeTrajectory } from "#envs";
import type { RecordedFrames } from "./recorded-frames.ts";

export interface StartsExport {
  /** How many, spread evenly over the tasks. */
  readonly count: number;
}

export function writeStarts(frames: RecordedFrames, world: string, { count }: StartsExport): number {
  const folder = join(world, "dataset");
  mkdirSync(folder, { recursive: true });
  const chosen = takeTurns(frames, count);
  for (const [index, { first, task }] of chosen.entries()) {
    const picture = frames.pictures.select(0, first).cpu().contiguous();
    const [height = 0, width = 0] = picture.shape;
    const image = { data: picture.data() as Uint8Array, shape: [height, width, 3] as const };
    const name = `traj${String(index).padStart(4, "0")}.npy`;
    writeTrajectory(join(folder, name), [{ image, instruction: frames.tasks[task]! }]);
    picture.dispose();
  }
  return chosen.length;
}

/** Episodes of each task in turn, until there are enough or none is left. */
function takeTurns({ episodes, tasks }: RecordedFrames, count: number): RecordedFrames["episodes"][number][] {
  const queues = tasks.map((_, task) => episodes.filter((episode) => episode.task === task));
  const rounds = Math.max(...queues.map((queue) => queue.length));
  const turns = Array.from({ length: rounds }, (_, round) => queues.flatMap((queue) => queue[round] ?? []));
  return turns.flat().slice(0, count);
}
