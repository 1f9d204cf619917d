/**
 * The workers of a run and the phases they go through together: sync, collect, advantages, learn.
 *
 * The one place that knows all three kinds of workers. What each does in a phase is its own business; here they only meet.
 */

import {
  type Advantages,
  type Algorithm,
  type AlgorithmFamily,
  algorithms,
  collectLiveGroups,
  shuffleAdvantages,
} from "#algorithms";
import { LocalWeightSync } from "#cluster";
import { type CheckedConfig, type EnvironmentConfig, samplingMode } from "#config";
import { concatColumns, disposeMinibatch, disposeRollout, type Rollout } from "#data";
import type { EnvCursor } from "#envs";
import type { Rgb } from "#pictures";
import { envSeedOffset, RandomStream } from "#random";
import { PeerLost } from "#tensor";
import { type Decider, EnvWorker, EpisodeLog, type Learned } from "#workers";
import {
  type ActorRanks,
  batchOf,
  checkActions,
  openStages,
  requireLocal,
  type Stage,
  startActors,
  startRollouts,
} from "./assemble.ts";
import { playTogether } from "./play-together.ts";

export interface Collected {
  readonly rollout: Rollout;
  readonly metrics: Record<string, number>;
  /** What the first slots saw last. */
  readonly sights: readonly Rgb[];
}

/** Told how far a phase is. */
export type Progress = (done: number, total: number) => void;

interface Collecting {
  readonly episodes: EpisodeLog;
  readonly times: { env: number; policy: number };
  readonly onProgress: Progress | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface CrewOptions {
  readonly say: (line: string) => void;
  /** Told what is being opened. */
  readonly doing?: ((phase: string) => void) | undefined;
  /** Changes to the model section of a resumed run. */
  readonly modelChanges?: Readonly<Record<string, unknown>> | undefined;
}

export class Crew {
  readonly checked: CheckedConfig;
  readonly actors: ActorRanks;
  readonly rollouts: readonly Decider[];
  readonly stages: readonly Stage[];
  readonly #players: EnvWorker;
  readonly #sync = new LocalWeightSync();
  readonly #streams: RandomStream;
  readonly #family: AlgorithmFamily;
  readonly #algorithm: Algorithm;
  #sights: readonly Rgb[] = [];
  #synced = false;
  /** Where the envs stood before the episodes that are being played; absent where those go on from earlier ones. */
  #begun: readonly EnvCursor[] | undefined;

  private constructor(
    checked: CheckedConfig,
    parts: {
      actors: ActorRanks;
      rollouts: readonly Decider[];
      stages: readonly Stage[];
      family: AlgorithmFamily;
    },
  ) {
    this.checked = checked;
    this.actors = parts.actors;
    this.rollouts = parts.rollouts;
    this.stages = parts.stages;
    this.#streams = RandomStream.ofRun(checked.config.runner.seed);
    this.#family = parts.family;
    this.#algorithm = parts.family.open(checked.config.algorithm);
    const { env } = checked.config;
    const critic = parts.actors.first.policy.valueCount > 0;
    const { gamma = 1, bootstrap_type: bootstrap = "standard" } = this.#algorithm.settings;
    this.#players = new EnvWorker(
      parts.stages.map(({ opened, firstSlot }) => ({ env: opened.env, firstSlot })),
      {
        settings: env.train,
        decisions: batchOf(checked).decisions,
        ...(critic && { critic: { gamma, bootstrap } }),
      },
    );
  }

  static async assemble(checked: CheckedConfig, { say, doing, modelChanges }: CrewOptions): Promise<Crew> {
    const { config } = checked;
    requireLocal(checked);
    doing?.("load_policy");
    const actors = await startActors(checked, modelChanges);
    const rollouts = await startRollouts(checked, actors.first);
    doing?.("start_envs");
    const stages = await openStages(checked, {
      section: config.env.train,
      slots: batchOf(checked).slots,
      seedOffset: envSeedOffset(config.runner.seed),
      say,
    });
    checkActions(actors.first.policy, stages);
    const family = await algorithms.get(config.algorithm.adv_type);
    return new Crew(checked, { actors, rollouts, stages, family });
  }

  get players(): EnvWorker {
    return this.#players;
  }

  /** The actor's weights, as version n, to all who act with them; every `weight_sync_interval` steps unless `now`. */
  async syncWeights(version: number, now = false): Promise<void> {
    const due = version % this.checked.config.runner.weight_sync_interval === 0;
    if (!due && !now && this.#synced) return;
    this.#synced = true;
    await this.makeWhole();
    await this.#sync.publish(version, this.actors.first.optimizer.weights);
    for (const worker of this.rollouts) await worker.refreshWeights(this.#sync);
    this.actors.first.memory.rest();
    await Promise.all(this.actors.others.map((actor) => actor.call("rest")));
  }

  /** The first actor holds all weights, to be acted with or saved, also where ranks shard them. */
  async makeWhole(): Promise<void> {
    const { first, others } = this.actors;
    if (first.memory.isWhole) return;
    await Promise.all([...others.map((actor) => actor.call("lendWeights")), first.memory.makeWhole(true)]);
  }

  /** Plays all rollout epochs of a training step; collects again for groups that teach nothing, where asked to. */
  async collect(step: number, onProgress?: Progress, signal?: AbortSignal): Promise<Collected> {
    const episodes = new EpisodeLog();
    const times = { env: 0, policy: 0 };
    if (this.canAbandon) this.#begun = this.stages.map(({ opened }) => opened.save(false));
    const collect = (round: number): Promise<Rollout> =>
      this.#collectOnce(step, round, { episodes, times, onProgress, signal });
    const { group_size: groupSize, resample_dead_groups: again = 0 } = this.#algorithm.settings;
    const rounds = this.#family.groups ? again : 0;
    const { rollout, collections } = await collectLiveGroups({ groupSize, rounds }, collect);
    this.#begun = undefined;
    const metrics = {
      ...episodes.metrics("env"),
      ...(rounds > 0 && { "rollout/collections": collections }),
      "time/env/interact": times.env,
      "time/rollout/generate": times.policy,
    };
    return { rollout, metrics, sights: this.#sights };
  }

  /** Whether episodes under way can be given up without a trace: a step that is taken again then begins where this one did. */
  get canAbandon(): boolean {
    return !this.checked.config.env.train.auto_reset;
  }

  /** Where an env stands, for a checkpoint: of episodes that were given up nothing is left. */
  envCursor(stage: number): EnvCursor {
    const { opened } = this.stages[stage] as Stage;
    return this.#begun?.[stage] ?? opened.save(this.checked.config.env.train.auto_reset);
  }

  async #collectOnce(step: number, round: number, part: Collecting): Promise<Rollout> {
    const { episodes, times, onProgress, signal } = part;
    const { ranks, config } = this.checked;
    this.#moveEnvs("onload");
    const { samples, slots } = batchOf(this.checked);
    let decided = 0;
    const tick = (count: number): void => {
      decided += count;
      if (decided % slots === 0) onProgress?.(decided, samples);
    };
    const stream = this.#streams.branch("sampling", step, round);
    const sampling = samplingMode(config, "train");
    const { stages, rollouts } = this;
    const played = await playTogether({ stages, rollouts, ranks, sampling, signal }, (lines) =>
      this.#players.interact(lines, stream, tick),
    );
    this.#moveEnvs("offload");
    for (const part of played) episodes.add(part.episodes);
    this.#sights = played[0]?.sights ?? [];
    times.env += Math.max(...played.map(({ envSeconds }) => envSeconds));
    times.policy += Math.max(...this.rollouts.map((worker) => worker.takeSeconds()));
    return joinEpochs(played.map(({ rollouts }) => rollouts));
  }

  /** From what happened to what to learn from it; the rollout is freed. */
  async advantages({ rollout }: Collected, step: number): Promise<Advantages> {
    const { auto_reset: autoReset, ignore_terminations: ignore } = this.checked.config.env.train;
    const given = await this.#algorithm.advantages(rollout, { unmasked: autoReset || ignore });
    const decisions = rollout.rewards.shape[0] ?? 1;
    disposeRollout(rollout); // the samples share its memory and keep it
    const { settings } = this.#algorithm;
    if (!settings.shuffle_advantages) return given;
    const samples = shuffleAdvantages(given.samples, {
      decisions,
      perEpisode: this.#family.groups,
      ...(settings.shuffle_within_groups && { groupSize: settings.group_size }),
      seed: this.#streams.branch("control").seed(step),
    });
    return { ...given, samples };
  }

  /** All updates of a training step on all ranks; the samples are freed. */
  async learn({ samples }: Advantages, step: number, onProgress?: Progress): Promise<Learned> {
    const { optimizerSteps } = batchOf(this.checked);
    let done = 0;
    const tick = (): void => onProgress?.(++done, optimizerSteps);
    const others = this.actors.others.map((actor) => actor.call("learn", { samples, step }));
    const [learned] = await allOrCause([this.actors.first.learn(samples, step, tick), ...others]);
    disposeMinibatch(samples);
    return learned as Learned;
  }

  /** From now on every env imagines with the world that the changed section names. */
  async replaceWorld(section: EnvironmentConfig): Promise<void> {
    for (const { opened } of this.stages) {
      await opened.replaceWorld?.(section);
      if (section.enable_offload) opened.offload?.();
    }
  }

  async close(): Promise<void> {
    const others = this.actors.others.map((actor) => actor.kill());
    await Promise.all([this.#players.close(), ...this.rollouts.map((worker) => worker.close()), ...others]);
  }

  #moveEnvs(direction: "onload" | "offload"): void {
    if (!this.checked.config.env.train.enable_offload) return;
    for (const { opened, device } of this.stages) opened[direction]?.(device);
  }
}

/** What all ranks answer. When one fails the others lose touch with it: what it says is the cause, and what they say is not. */
async function allOrCause<T>(ranks: readonly Promise<T>[]): Promise<T[]> {
  const lostTouch = (reason: unknown): boolean => reason instanceof PeerLost;
  try {
    return await Promise.all(ranks);
  } catch (first) {
    if (!lostTouch(first)) throw first;
    throw await new Promise((resolve) => {
      for (const rank of ranks) rank.catch((reason) => !lostTouch(reason) && resolve(reason));
      setTimeout(resolve, 5000, first);
    });
  }
}

/** [stage][epoch] → columns in the order epoch, slot. The parts are freed. */
function joinEpochs(parts: readonly (readonly Rollout[])[]): Rollout {
  const epochs = parts[0]?.length ?? 0;
  const ordered = Array.from({ length: epochs }, (_, epoch) =>
    parts.map((stage) => stage[epoch] as Rollout),
  ).flat();
  if (ordered.length === 1) return ordered[0] as Rollout;
  const joined = concatColumns(ordered);
  for (const part of ordered) disposeRollout(part);
  return joined;
}
