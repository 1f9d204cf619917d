/**
 * Plays episodes with whatever the rollout workers decide, and records them.
 *
 * Holds one env per pipeline stage. Each stage is a simple loop of its own (ask, step, ask, …); that two stages overlap env and
 * policy follows from both loops waiting at different moments. What is recorded, and under which random streams, depends on
 * a slot's number in the whole run only, so the number of workers and stages does not show in the samples.
 */

import { bootstrapRewards } from "#algorithms";
import type { EnvironmentConfig } from "#config";
import { disposeObservation, type EnvStep, type Observation, type Rollout, RolloutRecorder } from "#data";
import type { VectorEnv } from "#envs";
import type { Rgb } from "#pictures";
import type { RandomStream } from "#random";
import { EpisodeLog, flaggedSlots } from "./episode-log.ts";
import { lastSights } from "./last-sights.ts";
import { decideFor } from "./partial-step.ts";
import type { PolicyLine } from "./policy-line.ts";

export interface EnvStage {
  readonly env: VectorEnv;
  /** The number of the stage's first slot among all slots of the run. */
  readonly firstSlot: number;
}

export interface PlayRules {
  readonly settings: EnvironmentConfig;
  readonly decisions: number; // T per rollout epoch
  /** How to credit episodes that were cut off, where there is a critic. */
  readonly critic?: { readonly gamma: number; readonly bootstrap: "standard" | "always" } | undefined;
}

export interface Played {
  readonly rollouts: readonly Rollout[]; // one per rollout epoch
  readonly episodes: EpisodeLog;
  readonly envSeconds: number; // waited for the env
  /** What the first slots saw last. */
  readonly sights: readonly Rgb[];
}

export class EnvWorker {
  readonly stages: readonly EnvStage[];
  readonly #rules: PlayRules;
  /** With auto-reset an epoch begins where the last one ended. */
  readonly #lastSeen: (Observation | undefined)[];
  #progress: ((decisions: number) => void) | undefined;

  constructor(stages: readonly EnvStage[], rules: PlayRules) {
    this.stages = stages;
    this.#rules = rules;
    this.#lastSeen = stages.map(() => undefined);
  }

  /** All rollout epochs of one training step, all stages at once, each with its line. `stream` seeds the policy's draws. */
  async interact(
    lines: readonly PolicyLine[],
    stream: RandomStream,
    onDecision?: (decisions: number) => void,
  ): Promise<Played[]> {
    this.#progress = onDecision;
    return Promise.all(
      this.stages.map((stage, i) => this.#playStage(stage, i, lines[i] as PolicyLine, stream)),
    );
  }

  lastSeen(stage: number): Observation | undefined {
    return this.#lastSeen[stage];
  }

  resumeFrom(stage: number, observation: Observation): void {
    this.#lastSeen[stage] = observation;
  }

  async close(): Promise<void> {
    await Promise.all(this.stages.map(({ env }) => env.close()));
  }

  async #playStage(stage: EnvStage, index: number, line: PolicyLine, stream: RandomStream): Promise<Played> {
    const episodes = new EpisodeLog();
    const rollouts: Rollout[] = [];
    const clock: Clock = { seconds: 0 };
    let sights: readonly Rgb[] = [];
    for (let epoch = 0; epoch < this.#rules.settings.rollout_epoch; epoch++) {
      const seen = await timed(clock, () => this.#begin(index));
      const { rollout, last } = await this.#playEpoch(stage, line, seen, stream.branch("epoch", epoch), {
        episodes,
        clock,
      });
      rollouts.push(rollout);
      sights = lastSights(last);
      if (this.#rules.settings.auto_reset) this.#lastSeen[index] = last;
      else disposeObservation(last);
      stage.env.updateResetIds();
    }
    return { rollouts, episodes, envSeconds: clock.seconds, sights };
  }

  /** T decisions from the given sight on; also gives the last sight. */
  async #playEpoch(
    { env, firstSlot }: EnvStage,
    line: PolicyLine,
    first: Observation,
    stream: RandomStream,
    { episodes, clock }: { episodes: EpisodeLog; clock: Clock },
  ): Promise<{ rollout: Rollout; last: Observation }> {
    const { decisions, critic } = this.#rules;
    const recorder = new RolloutRecorder();
    let seen = first;
    let playing = Array.from({ length: env.size }, (_, slot) => slot);
    for (let t = 0; t < decisions; t++) {
      const { step, version } = await decideFor(playing, seen, line, (slot) =>
        stream.seed(firstSlot + slot, t),
      );
      disposeObservation(seen);
      recorder.decided(step, version);
      const answer = await timed(clock, () => env.step(step.actions));
      const { terminated, done } = flaggedSlots(answer);
      this.#log(answer, { terminated, done }, t, { episodes, tasks: seen.taskDescriptions });
      if (this.#oneEpisode) playing = playing.filter((slot) => !done[slot]);
      recorder.answered({ ...answer, rewards: await this.#credited(line, answer) });
      if (answer.finalObservation) disposeObservation(answer.finalObservation);
      seen = answer.observation;
      this.#progress?.(env.size);
    }
    const lastValues = critic ? await line.value(seen) : undefined;
    const rollout = recorder.finish(lastValues);
    lastValues?.dispose();
    return { rollout, last: seen };
  }

  async #begin(index: number): Promise<Observation> {
    const last = this.#lastSeen[index];
    this.#lastSeen[index] = undefined;
    return last ?? (this.stages[index] as EnvStage).env.reset();
  }

  /** Rewards, with what the critic thinks would have followed where an episode was cut off by a reset. */
  async #credited(line: PolicyLine, step: EnvStep): Promise<EnvStep["rewards"]> {
    const { critic } = this.#rules;
    if (!critic || !step.finalObservation) return step.rewards;
    const values = await line.value(step.finalObservation);
    const rewards = bootstrapRewards(step, values, critic.gamma, critic.bootstrap);
    step.rewards.dispose();
    values.dispose();
    return rewards;
  }

  /** A column holds one episode and is masked after its end. */
  get #oneEpisode(): boolean {
    const { auto_reset: autoReset, ignore_terminations: ignore } = this.#rules.settings;
    return !autoReset && !ignore;
  }

  /** Which episodes count: those that end, or all at the end of the epoch where none starts anew. */
  #log(
    step: EnvStep,
    { terminated, done }: ReturnType<typeof flaggedSlots>,
    t: number,
    { episodes, tasks }: { episodes: EpisodeLog; tasks: readonly string[] },
  ): void {
    const { decisions } = this.#rules;
    const perEpisode = !this.#oneEpisode;
    if (!perEpisode && t < decisions - 1) return;
    const slots = done.flatMap((isDone, slot) => (isDone || !perEpisode ? [slot] : []));
    const succeeded = step.episode.success_once;
    const ended = (slot: number): boolean =>
      perEpisode ? (terminated[slot] ?? false) : (succeeded?.[slot] ?? 0) > 0;
    episodes.enter(step.episode, slots, ended, tasks);
  }
}

interface Clock {
  seconds: number;
}

async function timed<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  clock.seconds += (performance.now() - began) / 1000;
  return result;
}
