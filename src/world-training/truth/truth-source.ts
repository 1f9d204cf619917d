/**
 * Where the truth about episodes comes from: recordings, or the simulator.
 *
 * `RecordedTruth` gives recorded actions to the world and compares with the recorded frames. `SimulatedTruth` lets a
 * policy act on imagined frames and then plays the same actions from the same start in the simulator: what RL in the
 * world would have gained, and what it would have been worth.
 *
 * Shapes: B episodes, C actions per chunk, T frames, A action size, H W pixels.
 */

import type { Policy } from "#policies";
import { type EpisodeJob, type PlayedScene, ScenePlayer } from "#recordings";
import { UserError } from "#registry";
import { startSeed } from "#simulators";
import { Generator, scope, stack, type Tensor, tensor } from "#tensor";
import type { WorldStart } from "#worlds";
import { beginScene, dreamtAsking } from "../dreams/begun-scene.ts";
import { policyAnswers, requireChunk } from "../dreams/policy-answers.ts";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { robotPose } from "../frames/robot-pose.ts";

export interface TrueEpisode {
  readonly frames: Tensor; // uint8 [T, H, W, 3], after each action
  readonly success: readonly boolean[]; // after each action, T
}

/** One group of episodes that is imagined together. */
export interface TruthGroup {
  readonly starts: readonly WorldStart[];
  readonly tasks: readonly number[];
  /** The next actions for what was imagined last, [B, C, A]. */
  actions(pictures_B3HW: Tensor, chunk: number): Tensor;
  /** What really follows from the actions, [B, T, A]. */
  truth(actions: Tensor): readonly TrueEpisode[];
}

export interface TruthSource {
  readonly tasks: readonly string[];
  readonly episodes: number;
  group(from: number, count: number, chunk: number): TruthGroup;
}

export class RecordedTruth implements TruthSource {
  readonly tasks: readonly string[];
  readonly #frames: RecordedFrames;
  readonly #episodes: RecordedFrames["episodes"];

  /**
   * Episodes shorter than one chunk are left out. The first `episodes`, or with `spread` as many from all over the recordings.
   */
  constructor(frames: RecordedFrames, options: { episodes: number; chunk: number; spread?: boolean }) {
    this.#frames = frames;
    this.tasks = frames.tasks;
    const all = frames.episodes.filter(({ length }) => length >= options.chunk);
    const stride = options.spread ? Math.max(1, all.length / options.episodes) : 1;
    const count = Math.min(options.episodes, all.length);
    this.#episodes = Array.from({ length: count }, (_, i) => all[Math.floor(i * stride)]!);
    if (this.#episodes.length === 0)
      throw new UserError(`no recorded episode has ${options.chunk} actions: there is nothing to replay`);
  }

  get episodes(): number {
    return this.#episodes.length;
  }

  /** Where these episodes are in the recordings. */
  spans(from: number, count: number): RecordedFrames["episodes"] {
    return this.#episodes.slice(from, from + count);
  }

  group(from: number, count: number, chunk: number): TruthGroup {
    const frames = this.#frames;
    const spans = this.spans(from, count);
    const states = frames.states;
    return {
      tasks: spans.map(({ task }) => task),
      starts: spans.map(({ first, task }) => ({
        frame: frames.pick(rowIndex([first], frames)).squeeze(0),
        instruction: frames.tasks[task]!,
        pose: robotPose(states.select(0, first)),
      })),
      // Beyond an episode's end its last action is repeated; what is imagined there is not counted.
      actions: (_, index) => {
        const at = spans.flatMap(({ first, length }) =>
          Array.from({ length: chunk }, (_, c) => first + Math.min(index * chunk + c, length - 1)),
        );
        return frames.actions.indexSelect(0, rowIndex(at, frames)).unflatten(0, [spans.length, chunk]);
      },
      truth: (actions) =>
        spans.map(({ first, length }) => {
          const counted = Math.min(length, actions.shape[1]!);
          return {
            frames: frames.pictures.narrow(0, first + 1, counted),
            success: frames.success
              .narrow(0, first + 1, counted)
              .cpu()
              .toArray()
              .map((flag) => Number(flag) === 1),
          };
        }),
    };
  }
}

export interface SimulatedOptions {
  readonly suite: string;
  readonly size: number;
  readonly episodes: number;
  readonly seed: number;
  /** 0 acts greedily. */
  readonly temperature: number;
}

/** Episode `index` of a measurement: tasks take turns. */
export const examJob = (tasks: number, seed: number, index: number): EpisodeJob => ({
  task: index % tasks,
  start: -1,
  seed: startSeed("exams", seed, index),
});

export class SimulatedTruth implements TruthSource, Disposable {
  readonly tasks: readonly string[];
  readonly episodes: number;
  readonly #policy: Policy;
  readonly #options: SimulatedOptions;
  readonly #player: ScenePlayer;

  constructor(policy: Policy, options: SimulatedOptions) {
    this.#policy = policy;
    this.#options = options;
    this.#player = new ScenePlayer(options.suite, options.size);
    this.tasks = this.#player.sentences;
    this.episodes = options.episodes;
  }

  group(from: number, count: number, chunk: number): TruthGroup {
    requireChunk(this.#policy, chunk);
    const jobs = Array.from({ length: Math.min(count, this.episodes - from) }, (_, i) => this.#job(from + i));
    const { size, temperature } = this.#options;
    const scenes = jobs.map((job) => beginScene(this.#player, job, size));
    const streams = jobs.map(({ seed }) => new Generator(seed));
    const temperatures = jobs.map(() => temperature);
    return {
      tasks: jobs.map(({ task }) => task),
      starts: scenes.map(({ start }) => start),
      actions: (pictures) =>
        policyAnswers(this.#policy, dreamtAsking(pictures, scenes, temperatures, streams)),
      truth: (actions) => {
        const episodes = scenes.map(({ scene }, b) => this.#play(scene, actions.select(0, b)));
        for (const { job, scene } of scenes) this.#player.done(job.task, scene);
        for (const stream of streams) stream.dispose();
        return episodes;
      },
    };
  }

  [Symbol.dispose](): void {
    this.#player[Symbol.dispose]();
  }

  #job(index: number): EpisodeJob {
    return examJob(this.tasks.length, this.#options.seed, index);
  }

  #play(scene: PlayedScene, actions_TA: Tensor): TrueEpisode {
    const { size } = this.#options;
    const [steps = 0, width = 0] = actions_TA.shape;
    const numbers = actions_TA.cpu().contiguous().data() as Float32Array;
    const frames: Tensor[] = [];
    const success: boolean[] = [];
    for (let step = 0; step < steps; step++) {
      scene.step(numbers.subarray(step * width, (step + 1) * width));
      const frame = scene.frame();
      frames.push(tensor(frame.main, { shape: [size, size, 3] }));
      success.push(frame.success);
    }
    return { frames: scope(() => stack(frames)), success };
  }
}
