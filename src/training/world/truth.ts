/**
 * How far imagination is from what was recorded: the same start and the same actions, in both.
 *
 * Frames: PSNR and SSIM of each imagined frame against the recorded one, by how many actions lie between it and the
 * start, and the drift of latents. Success: the judge's opinion of imagined episodes against the recorded truth: how
 * often an imagined success was a failure (the lie that a policy learns to tell) and how often a success was missed. The
 * judge alone: its AUC and calibration on recorded frames.
 */
import type { RewardModel } from "#rewards";
import { cat, inferenceMode, noGrad, scope, stack, type Tensor, tensor } from "#tensor";
import { SlotNoise, type World, type WorldMemory } from "#worlds";
import { auc, calibrationError, type Proportion, proportion, psnr, ssim } from "./meters.ts";
import type { RecordedFrames } from "./recorded-frames.ts";

export interface TruthOptions {
  readonly episodes: number; // at most
  readonly chunks: number; // imagined per episode, at most
  readonly batch: number;
  readonly threshold: number; // of the judge's opinion
  readonly holdFrames: number; // frames in a row that make a success
  readonly seed: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface HorizonRow {
  readonly frame: number; // actions since the start
  readonly psnr: number; // dB
  readonly ssim: number;
  readonly samples: number;
}

export interface TruthReport {
  readonly episodes: number;
  readonly frames: readonly HorizonRow[];
  readonly firstChunkPsnr: number;
  readonly dreamSuccess: Proportion;
  readonly trueSuccess: Proportion;
  /** Of imagined successes, those that were failures. */
  readonly falseSuccess: Proportion;
  /** Of true successes, those that were imagined as failures. */
  readonly missedSuccess: Proportion;
  readonly agreement: Proportion;
  readonly judge: { readonly auc: number; readonly calibrationError: number; readonly frames: number };
  readonly tasks: readonly {
    readonly task: string;
    readonly dream: Proportion;
    readonly truth: Proportion;
  }[];
}

type Span = RecordedFrames["episodes"][number];

interface Outcome {
  readonly task: number;
  readonly dream: boolean;
  readonly truth: boolean;
}

export async function measureTruth(
  world: World,
  judge: RewardModel,
  frames: RecordedFrames,
  options: TruthOptions,
): Promise<TruthReport> {
  const episodes = frames.episodes.filter(({ length }) => length >= world.chunk).slice(0, options.episodes);
  const noise = new SlotNoise(options.batch, options.seed);
  const flags = frames.success.cpu().toArray().map(Number);
  const rows: { frame: number; psnr: number; ssim: number }[] = [];
  const outcomes: Outcome[] = [];
  for (let from = 0; from < episodes.length; from += options.batch) {
    const group = episodes.slice(from, from + options.batch);
    const dreamt = replay(world, judge, frames, group, noise, options, rows);
    for (const [b, { first, length, task }] of group.entries()) {
      const shown = Math.min(
        length,
        Math.floor(length / world.chunk) * world.chunk,
        options.chunks * world.chunk,
      );
      const truth = holds(flags.slice(first + 1, first + 1 + shown), 0.5, options.holdFrames);
      outcomes.push({
        task,
        dream: holds(dreamt[b]!.slice(0, shown), options.threshold, options.holdFrames),
        truth,
      });
    }
    options.onProgress?.(Math.min(from + options.batch, episodes.length), episodes.length);
    await new Promise(setImmediate);
  }
  return report(
    rows,
    outcomes,
    judgeAlone(judge, frames, episodes, flags, options.batch),
    frames,
    world.chunk,
  );
}

/** Imagines a group of episodes with their recorded actions; gives the judge's opinion of every imagined frame. */
function replay(
  world: World,
  judge: RewardModel,
  frames: RecordedFrames,
  group: readonly Span[],
  noise: SlotNoise,
  options: TruthOptions,
  rows: { frame: number; psnr: number; ssim: number }[],
): number[][] {
  return noGrad(() =>
    scope(() => {
      const slots = group.map((_, slot) => slot);
      const firsts = frames.pick(
        index(
          group.map(({ first }) => first),
          frames,
        ),
      );
      const starts = group.map(({ task }, b) => ({
        frame: firsts.select(0, b),
        instruction: frames.tasks[task]!,
      }));
      let memories: readonly WorldMemory[] = world.begin(starts, slots, noise);
      const opinions: number[][] = group.map(() => []);
      const longest = Math.max(...group.map(({ length }) => Math.floor(length / world.chunk)));
      for (let chunk = 0; chunk < Math.min(longest, options.chunks); chunk++) {
        const [kept, answers] = scope(() => {
          const actions = recordedActions(frames, group, chunk, world.chunk);
          const imagined = world.imagine({ memories, actions, slots, noise });
          compareFrames(imagined.frames, frames, group, chunk, world.chunk, rows);
          const sentences = group.flatMap(({ task }) => Array<string>(world.chunk).fill(frames.tasks[task]!));
          const judged = judge.judge(imagined.frames.flatten(0, 1), sentences).cpu().toArray().map(Number);
          return [imagined.memories, judged] as const;
        });
        memories = kept;
        for (const [b, list] of opinions.entries())
          list.push(...answers.slice(b * world.chunk, (b + 1) * world.chunk));
      }
      return opinions;
    }),
  );
}

const index = (rows: readonly number[], frames: RecordedFrames): Tensor =>
  tensor(BigInt64Array.from(rows, BigInt), { device: frames.device });

/** Beyond an episode's end its last action is repeated; what is imagined there is not counted. */
function recordedActions(
  frames: RecordedFrames,
  group: readonly Span[],
  chunk: number,
  size: number,
): Tensor {
  const rows = group.flatMap(({ first, length }) =>
    Array.from({ length: size }, (_, c) => first + Math.min(chunk * size + c, length - 1)),
  );
  return frames.actions.indexSelect(0, index(rows, frames)).unflatten(0, [group.length, size]);
}

function compareFrames(
  imagined_BC3HW: Tensor,
  frames: RecordedFrames,
  group: readonly Span[],
  chunk: number,
  size: number,
  rows: { frame: number; psnr: number; ssim: number }[],
): void {
  for (const [b, { first, length }] of group.entries()) {
    if ((chunk + 1) * size > length) continue;
    const real = frames.pick(
      index(
        Array.from({ length: size }, (_, c) => first + chunk * size + c + 1),
        frames,
      ),
    );
    const dream = imagined_BC3HW.select(0, b).clamp(-1, 1);
    const [noise, likeness] = [psnr(dream, real), ssim(dream, real)];
    for (let c = 0; c < size; c++)
      rows.push({ frame: chunk * size + c + 1, psnr: noise[c]!, ssim: likeness[c]! });
  }
}

function holds(opinions: readonly number[], threshold: number, frames: number): boolean {
  let held = 0;
  return opinions.some((opinion) => {
    held = opinion >= threshold ? held + 1 : 0;
    return held >= frames;
  });
}

/** The judge on recorded frames: does it rank successes above failures, and does it mean what it says? */
function judgeAlone(
  judge: RewardModel,
  frames: RecordedFrames,
  episodes: readonly Span[],
  flags: readonly number[],
  batch: number,
): TruthReport["judge"] {
  const scores: number[] = [];
  const truth: number[] = [];
  for (let from = 0; from < episodes.length; from += batch) {
    const group = episodes.slice(from, from + batch);
    const rows = group.flatMap(({ first, length }) =>
      Array.from({ length: length + 1 }, (_, i) => first + i),
    );
    const sentences = group.flatMap(({ length, task }) =>
      Array<string>(length + 1).fill(frames.tasks[task]!),
    );
    const answers = inferenceMode(() =>
      scope(() =>
        judge
          .judge(frames.pick(index(rows, frames)), sentences)
          .cpu()
          .toArray()
          .map(Number),
      ),
    );
    scores.push(...answers);
    truth.push(...rows.map((row) => flags[row]!));
  }
  return {
    auc: auc(scores, truth),
    calibrationError: calibrationError(scores, truth),
    frames: scores.length,
  };
}

function report(
  rows: readonly { frame: number; psnr: number; ssim: number }[],
  outcomes: readonly Outcome[],
  judge: TruthReport["judge"],
  { tasks }: RecordedFrames,
  chunk: number,
): TruthReport {
  const share = (part: (o: Outcome) => boolean, of: (o: Outcome) => boolean = () => true): Proportion =>
    proportion(outcomes.filter((o) => of(o) && part(o)).length, outcomes.filter(of).length);
  const horizon = byFrame(rows);
  const first = rows.filter(({ frame }) => frame <= chunk);
  return {
    episodes: outcomes.length,
    frames: horizon,
    firstChunkPsnr: first.reduce((sum, row) => sum + row.psnr, 0) / Math.max(first.length, 1),
    dreamSuccess: share(({ dream }) => dream),
    trueSuccess: share(({ truth }) => truth),
    falseSuccess: share(
      ({ truth }) => !truth,
      ({ dream }) => dream,
    ),
    missedSuccess: share(
      ({ dream }) => !dream,
      ({ truth }) => truth,
    ),
    agreement: share(({ dream, truth }) => dream === truth),
    judge,
    tasks: tasks.map((task, id) => ({
      task,
      dream: share(
        ({ dream }) => dream,
        (o) => o.task === id,
      ),
      truth: share(
        ({ truth }) => truth,
        (o) => o.task === id,
      ),
    })),
  };
}

function byFrame(rows: readonly { frame: number; psnr: number; ssim: number }[]): HorizonRow[] {
  const last = Math.max(0, ...rows.map(({ frame }) => frame));
  return Array.from({ length: last }, (_, i) => {
    const own = rows.filter(({ frame }) => frame === i + 1);
    const mean = (key: "psnr" | "ssim"): number =>
      own.reduce((sum, row) => sum + row[key], 0) / Math.max(own.length, 1);
    return { frame: i + 1, psnr: mean("psnr"), ssim: mean("ssim"), samples: own.length };
  });
}

/** Side by side for a video: dream, recording, difference; uint8 [T, H, 3·W, 3]. */
export function sideBySide(dream_T3HW: Tensor, real_T3HW: Tensor): Tensor {
  const difference = dream_T3HW.sub(real_T3HW).abs().sub(1);
  const wide = cat([dream_T3HW, real_T3HW, difference], 3).clamp(-1, 1);
  return stack(wide.add(1).mul(127.5).unbind(0)).to({ dtype: "uint8" }).permute([0, 2, 3, 1]).contiguous();
}
