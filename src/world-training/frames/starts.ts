/**
 * Writes recorded moments as a world's starts: `dataset/traj*.npy`, and `traj*_kir.npy` for keyframe starts (KIR).
 *
 * A plain start is the first frame of an episode. A keyframe start carries the last frames before the decisive moment of
 * a successful episode, with the actions that led to them, so that imagination begins where it matters.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type FrameRecord, writeTrajectory } from "#envs";
import { scope } from "#tensor";
import type { RecordedFrames } from "./recorded-frames.ts";
import { poseNumbers } from "./robot-pose.ts";

export interface StartsExport {
  /** How many, spread evenly over the tasks. */
  readonly count: number;
  /** How many keyframe starts. */
  readonly keyframes?: number;
  /** Actions between a keyframe start and its episode's success. */
  readonly before_success?: number;
}

type Span = RecordedFrames["episodes"][number];

/** Frames of a keyframe start after its first one. */
const keyframeCount = 4;

export function writeStarts(
  frames: RecordedFrames,
  world: string,
  { count, keyframes = 0, before_success = 8 }: StartsExport,
): { plain: number; keyframes: number } {
  const folder = join(world, "dataset");
  mkdirSync(folder, { recursive: true });
  const path = (index: number, mark = ""): string =>
    join(folder, `traj${String(index).padStart(4, "0")}${mark}.npy`);
  const plain = takeTurns(frames.episodes, frames.tasks.length, count);
  for (const [index, { first, task }] of plain.entries())
    writeTrajectory(path(index), [record(frames, first, task)]);
  const cuts = decisiveMoments(frames, before_success);
  const chosen = takeTurns(cuts, frames.tasks.length, keyframes);
  for (const [index, { first, moment, task }] of chosen.entries()) {
    const rows = [first, ...Array.from({ length: keyframeCount }, (_, i) => moment - keyframeCount + 1 + i)];
    writeTrajectory(
      path(index, "_kir"),
      rows.map((row) => record(frames, row, task)),
    );
  }
  return { plain: plain.length, keyframes: chosen.length };
}

/** A frame as the published files have it. Its `delta_action` is the one that led to it; none led to a first frame. */
function record(frames: RecordedFrames, row: number, task: number): FrameRecord {
  return scope(() => {
    const picture = frames.pictures.select(0, row).cpu().contiguous();
    const [height = 0, width = 0] = picture.shape;
    const isFirst = frames.episodes.some(({ first }) => first === row);
    const action = isFirst
      ? [0, 0, 0, 0, 0, 0, -1]
      : frames.actions
          .select(0, row - 1)
          .cpu()
          .toArray()
          .map(Number);
    return {
      image: { data: picture.data() as Uint8Array, shape: [height, width, 3] as const },
      instruction: frames.tasks[task]!,
      action,
      pose: poseNumbers(frames.states.select(0, row).toArray().map(Number)),
    };
  });
}

/** Of every episode that succeeds late enough: the moment some actions before its first success. */
function decisiveMoments(frames: RecordedFrames, before: number): (Span & { readonly moment: number })[] {
  const flags = frames.success.cpu().toArray().map(Number);
  return frames.episodes.flatMap((span) => {
    const success = flags.indexOf(1, span.first);
    const moment = success - before;
    const inside = success > 0 && success <= span.first + span.length && moment >= span.first + keyframeCount;
    return inside ? [{ ...span, moment }] : [];
  });
}

/** Episodes of each task in turn, until there are enough or none is left. */
function takeTurns<E extends Span>(episodes: readonly E[], tasks: number, count: number): E[] {
  const queues = Array.from({ length: tasks }, (_, task) =>
    episodes.filter((episode) => episode.task === task).slice(0, count),
  );
  const rounds = Math.max(0, ...queues.map((queue) => queue.length));
  const turns = Array.from({ length: rounds }, (_, round) => queues.flatMap((queue) => queue[round] ?? []));
  return turns.flat().slice(0, count);
}
