/**
 * Records a policy's own episodes for a world model: what the policy does is what the world must know best.
 *
 * Several episodes play side by side so that the policy answers them in one batch. Each samples from a stream of its
 * own, made from its seed, at a temperature dealt by its place in the plan: higher ones show what a policy in training
 * may try. Episodes begin from fresh starts, which evaluations never use.
 */
import {
  EpisodeEnd,
  type EpisodeJob,
  type EpisodeOutcome,
  type FrameRow,
  Mt19937,
  type PlayedScene,
  type RecordingSettings,
  ScenePlayer,
  ShardRecorder,
  type ShardSummary,
} from "#envs";
import type { Policy } from "#policies";
import { Generator, noGrad, scope, stack, tensor } from "#tensor";

export interface PolicyPlay {
  /** Dealt to episodes in turn; 0 means greedy. */
  readonly temperatures: readonly number[];
  /** Episodes that play at once. */
  readonly at_once: number;
}

interface Playing {
  readonly job: EpisodeJob;
  readonly scene: PlayedScene;
  readonly random: Generator;
  readonly end: EpisodeEnd;
  readonly frames: FrameRow[];
  readonly actions: Float32Array[];
}

export class PolicyRecorder implements Disposable {
  readonly #policy: Policy;
  readonly #settings: RecordingSettings;
  readonly #play: PolicyPlay;
  readonly #player: ScenePlayer;

  constructor(policy: Policy, settings: RecordingSettings, play: PolicyPlay) {
    this.#policy = policy;
    this.#settings = settings;
    this.#play = play;
    this.#player = new ScenePlayer(settings.suite, settings.size);
  }

  async collect(
    jobs: readonly EpisodeJob[],
    path: string,
    onEpisode: (outcome: EpisodeOutcome) => void,
  ): Promise<ShardSummary> {
    const { size } = this.#settings;
    const recorder = new ShardRecorder({ width: size, height: size, wrist: false });
    for (let from = 0; from < jobs.length; from += this.#play.at_once) {
      for (const episode of this.#together(jobs.slice(from, from + this.#play.at_once))) {
        record(episode, recorder);
        onEpisode({ job: episode.job, success: episode.end.succeeded, steps: episode.end.steps });
      }
      await new Promise(setImmediate); // messages go out
    }
    recorder.write(path);
    return { episodes: recorder.episodes, frames: recorder.frames, attempts: jobs.length };
  }

  [Symbol.dispose](): void {
    this.#player[Symbol.dispose]();
  }

  /** Plays a group to its end, one chunk of each at a time. */
  #together(jobs: readonly EpisodeJob[]): Playing[] {
    const all = jobs.map((job) => this.#begin(job));
    for (let left = all; left.length > 0; left = left.filter(({ end }) => !end.reached)) this.#chunk(left);
    for (const { job, scene, random } of all) {
      this.#player.done(job.task, scene);
      random.dispose();
    }
    return all;
  }

  #begin(job: EpisodeJob): Playing {
    const scene = this.#player.open(job.task);
    scene.begin(job, new Mt19937(job.seed));
    const end = new EpisodeEnd(this.#settings);
    return { job, scene, end, random: new Generator(job.seed), frames: [scene.frame()], actions: [] };
  }

  #chunk(playing: readonly Playing[]): void {
    const { chunk, actionSize } = this.#policy;
    const rows = this.#answers(playing);
    for (const [i, { scene, end, frames, actions }] of playing.entries()) {
      for (let step = 0; step < chunk && !end.reached; step++) {
        const at = (i * chunk + step) * actionSize;
        const action = rows.slice(at, at + actionSize);
        scene.step(action);
        const frame = scene.frame();
        frames.push(frame);
        actions.push(action);
        end.count(frame);
      }
    }
  }

  /** Actions of all episodes, [B, C, A] in one array. Episodes of one temperature are asked together. */
  #answers(playing: readonly Playing[]): Float32Array {
    const { chunk, actionSize } = this.#policy;
    const result = new Float32Array(playing.length * chunk * actionSize);
    for (const temperature of new Set(playing.map(({ job }) => this.#temperature(job)))) {
      const group = playing.filter(({ job }) => this.#temperature(job) === temperature);
      const answers = this.#ask(group, temperature);
      for (const [i, episode] of group.entries()) {
        const own = answers.subarray(i * chunk * actionSize, (i + 1) * chunk * actionSize);
        result.set(own, playing.indexOf(episode) * chunk * actionSize);
      }
    }
    return result;
  }

  #ask(group: readonly Playing[], temperature: number): Float32Array {
    const { size } = this.#settings;
    const last = group.map(({ frames }) => frames.at(-1)!);
    return noGrad(() =>
      scope(() => {
        const observation = {
          mainImages: stack(last.map(({ main }) => tensor(main, { shape: [size, size, 3] }))),
          states: stack(last.map(({ state }) => tensor(state))),
          taskDescriptions: group.map(({ job }) => this.#player.sentences[job.task]!),
        };
        const generator = group.map(({ random }) => random);
        const sampling =
          temperature > 0
            ? ({ mode: "sample", temperature, generator } as const)
            : ({ mode: "greedy" } as const);
        return this.#policy.act(observation, sampling).actions.cpu().contiguous().data() as Float32Array;
      }),
    );
  }

  #temperature({ seed }: EpisodeJob): number {
    const { temperatures } = this.#play;
    // Tasks take turns with neighbouring seeds: a task's own rounds must see every temperature.
    const round = Math.floor((seed % 1_000_000) / this.#player.sentences.length);
    return temperatures[round % temperatures.length] ?? 1;
  }
}

function record({ job, end, frames, actions }: Playing, recorder: ShardRecorder): void {
  for (const [i, frame] of frames.entries()) {
    recorder.addFrame(frame);
    const action = actions[i];
    if (action) recorder.addAction(action, action);
  }
  recorder.endEpisode({ ...job, succeeded: end.succeeded });
}
