/**
 * Records what really follows from the actions that a policy takes in a dream.
 *
 * A policy's own recordings mislead a world: the policy lifts because it saw that it holds, so the world learns that lifting implies holding. In a
 * dream nothing but the world decides what the policy sees, a wrong guess is acted on, and the guess makes itself true (delusions of sequence
 * models, Ortega et al. 2021, https://arxiv.org/abs/2110.10819). Here the policy acts on imagined frames, and the simulator plays the
 * same actions from the same start: what is recorded is where the dream was wrong.
 *
 * Shapes: B episodes, T actions, A action size, H W pixels.
 */

import type { Policy } from "#policies";
import {
  EpisodeEnd,
  type EpisodeJob,
  type EpisodeOutcome,
  type RecordingSettings,
  type ShardRecorder,
} from "#recordings";
import { Generator, scope, type Tensor } from "#tensor";
import { SlotNoise, type World } from "#worlds";
import { type BegunScene, beginScene, dreamtAsking } from "../dreams/begun-scene.ts";
import { dream } from "../dreams/dream.ts";
import { dealtTemperature, policyAnswers, requireChunk } from "../dreams/policy-answers.ts";
import { GroupRecorder } from "./group-recorder.ts";

export class DreamRecorder extends GroupRecorder {
  readonly #policy: Policy;
  readonly #world: World;
  readonly #temperatures: readonly number[];

  /** `temperatures` are dealt to episodes in turn; 0 is greedy. */
  constructor(
    { policy, world }: { policy: Policy; world: World },
    settings: RecordingSettings,
    temperatures: readonly number[],
  ) {
    requireChunk(policy, world.chunk);
    super(settings, 24);
    this.#policy = policy;
    this.#world = world;
    this.#temperatures = temperatures;
  }

  protected record(jobs: readonly EpisodeJob[], recorder: ShardRecorder): EpisodeOutcome[] {
    return scope(() => {
      const group = jobs.map((job) => beginScene(this.player, job, this.settings.size));
      const actions_BTA = this.#dream(group);
      return group.map((episode, b) => {
        const outcome = this.#played(episode, actions_BTA.select(0, b), recorder);
        this.player.done(episode.job.task, episode.scene);
        return outcome;
      });
    });
  }

  /** What the policy does in the dream, [B, T, A]; the same group of episodes gives the same actions. */
  #dream(group: readonly BegunScene[]): Tensor {
    const { sentences } = this.player;
    const streams = group.map(({ job }) => new Generator(job.seed));
    const noise = new SlotNoise(group.length, group[0]!.job.seed);
    const chunks = Math.ceil(this.settings.steps / this.#world.chunk);
    const starts = group.map(({ start }) => start);
    const temperatures = group.map(({ job }) => dealtTemperature(job, this.#temperatures, sentences.length));
    const { actions } = dream({ world: this.#world, noise }, starts, chunks, (pictures_B3HW) =>
      policyAnswers(this.#policy, dreamtAsking(pictures_B3HW, group, temperatures, streams)),
    );
    for (const stream of streams) stream.dispose();
    return actions;
  }

  #played({ job, scene }: BegunScene, actions_TA: Tensor, recorder: ShardRecorder): EpisodeOutcome {
    const end = new EpisodeEnd(this.settings);
    const [length = 0, width = 0] = actions_TA.shape;
    const numbers = actions_TA.cpu().contiguous().data() as Float32Array;
    recorder.addFrame(scene.frame());
    for (let step = 0; step < length && !end.reached; step++) {
      const action = numbers.slice(step * width, (step + 1) * width);
      scene.step(action);
      const frame = scene.frame();
      recorder.addAction(action, action);
      recorder.addFrame(frame);
      end.count(frame);
    }
    recorder.endEpisode({ ...job, succeeded: end.succeeded });
    return { job, success: end.succeeded, steps: end.steps };
  }
}
