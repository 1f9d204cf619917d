/**
 * Records a policy's own episodes for a world model: what the policy does is what the world must know best.
 *
 * Several episodes play side by side so that the policy answers them in one batch. Each samples from a stream of its
 * own, made from its seed, at a temperature dealt by its place in the plan: higher ones show what a policy in training
 * may try. Episodes begin from fresh starts, which evaluations never use.
 */

import type { Policy } from "#policies";
import { Mt19937 } from "#random";
import {
  EpisodeEnd,
  type EpisodeJob,
  type EpisodeOutcome,
  type FrameRow,
  type PlayedScene,
  type RecordingSettings,
  type ShardRecorder,
} from "#recordings";
import { Generator, scope, stack, tensor } from "#tensor";
import { dealtTemperature, policyAnswers } from "../dreams/policy-answers.ts";
import { GroupRecorder } from "./group-recorder.ts";

interface Playing {
  readonly job: EpisodeJob;
  readonly scene: PlayedScene;
  readonly random: Generator;
  readonly end: EpisodeEnd;
  readonly frames: FrameRow[];
  readonly actions: Float32Array[];
}

export class PolicyRecorder extends GroupRecorder {
  readonly #policy: Policy;
  readonly #temperatures: readonly number[];

  /** `temperatures` are dealt to episodes in turn; 0 is greedy. */
  constructor(policy: Policy, settings: RecordingSettings, temperatures: readonly number[]) {
    super(settings, 12);
    this.#policy = policy;
    this.#temperatures = temperatures;
  }

  protected record(jobs: readonly EpisodeJob[], recorder: ShardRecorder): EpisodeOutcome[] {
    return this.#together(jobs).map((episode) => {
      record(episode, recorder);
      return { job: episode.job, success: episode.end.succeeded, steps: episode.end.steps };
    });
  }

  /** Plays a group to its end, one chunk of each at a time. */
  #together(jobs: readonly EpisodeJob[]): Playing[] {
    const all = jobs.map((job) => this.#begin(job));
    for (let left = all; left.length > 0; left = left.filter(({ end }) => !end.reached)) this.#chunk(left);
    for (const { job, scene, random } of all) {
      this.player.done(job.task, scene);
      random.dispose();
    }
    return all;
  }

  #begin(job: EpisodeJob): Playing {
    const scene = this.player.open(job.task);
    scene.begin(job, new Mt19937(job.seed));
    const end = new EpisodeEnd(this.settings);
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

  /** Actions of all episodes, [B, C, A] in one array. */
  #answers(playing: readonly Playing[]): Float32Array {
    const { size } = this.settings;
    const { sentences } = this.player;
    const last = playing.map(({ frames }) => frames.at(-1)!);
    return scope(
      () =>
        policyAnswers(this.#policy, {
          pictures_BHW3: stack(last.map(({ main }) => tensor(main, { shape: [size, size, 3] }))),
          states_BS: stack(last.map(({ state }) => tensor(state))),
          sentences: playing.map(({ job }) => sentences[job.task]!),
          temperatures: playing.map(({ job }) => dealtTemperature(job, this.#temperatures, sentences.length)),
          streams: playing.map(({ random }) => random),
        }).data() as Float32Array,
    ).slice();
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
