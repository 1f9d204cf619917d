/**
 * LIBERO's suites, and our tabletop's, as an environment: slots simulated by worker processes.
 *
 * Follows RLinf's LIBERO env in ids, rewards, flags and metrics. Where we depart: a task is compiled once and not at every
 * reset; a slot whose episode is over, or whose evaluation pool is empty, rests until the next reset; slots of a group also share the poses
 * of their fixtures, which a stored start does not hold (they follow from the seed and the start's id).
 */

import type { EnvStep, Observation } from "#data";
import { actionSizeOf, handsOf } from "#engine";
import { sceneSeed } from "#random";
import { type Launcher, UserError } from "#registry";
import type { ChunkSight, ChunkWatcher, FilmView, SlotSnapshot, SlotStart } from "#simulators";
import {
  type ChosenStarts,
  type EpisodeAccount,
  enterStep,
  episodeStats,
  findSuite,
  freshStartSeed,
  newAccount,
  readStarts,
  type Suite,
} from "#simulators";
import type { Tensor } from "#tensor";
import type { ResetRequest, VectorEnv } from "../env.ts";
import { ChunkBoard } from "./chunk-board.ts";
import { EvaluationTally, type TaskTally } from "./evaluation-tally.ts";
import { HostPool } from "./host-pool.ts";
import { readActions } from "./read-actions.ts";
import { exhausted, locateStart, ResetIds } from "./reset-ids.ts";
import type { SimulatorEnvSettings } from "./settings.ts";
import { SlotViews } from "./slot-views.ts";

/** This env among its siblings: each env worker has one per pipeline stage. */
export interface EnvPosition {
  readonly instance: number;
  readonly instances: number;
}

export interface SimulatorEnvParts extends Partial<EnvPosition> {
  readonly say?: (line: string) => void;
  readonly watcher?: ChunkWatcher;
  /** How films are drawn; absent: as the policy sees it. */
  readonly film?: FilmView | undefined;
  /** Starts the workers that simulate; not needed where `env_workers` is 0. */
  readonly launcher?: Launcher | undefined;
}

interface Slot {
  readonly start: SlotStart | undefined; // undefined: resting
  readonly account: EpisodeAccount;
  counted: boolean;
}

/** Plain data: can be structured-cloned, and written by anything that keeps typed arrays. */
export interface SimulatorEnvState {
  readonly resetIds: string;
  readonly slots: readonly (Slot & { readonly snapshot: SlotSnapshot | undefined })[];
}

export class SimulatorEnv implements VectorEnv {
  readonly size: number;
  readonly actionSize: number;
  readonly settings: SimulatorEnvSettings;
  readonly suite: Suite;
  readonly #starts: ChosenStarts;
  /** How many starts each task has. */
  readonly trials: readonly number[];
  readonly #resetIds: ResetIds;
  readonly #pool: HostPool;
  readonly #views: SlotViews;
  readonly #slots: Slot[];
  readonly #tally = new EvaluationTally();
  readonly #watcher: ChunkWatcher | undefined;
  readonly #film: FilmView | undefined;
  /** What watchers are still doing; nothing else is played meanwhile. */
  #telling: Promise<unknown> = Promise.resolve();

  constructor(size: number, settings: SimulatorEnvSettings, parts: SimulatorEnvParts = {}) {
    const { group_size: groupSize, init_params: camera } = settings;
    if (size % groupSize !== 0)
      throw new UserError(
        `${size} envs cannot be split into groups of ${groupSize}: change total_num_envs or group_size`,
      );
    this.size = size;
    this.settings = settings;
    this.suite = findSuite(settings.task_suite_name);
    this.actionSize = actionSizeOf(this.suite.pack);
    this.#starts = readStarts(settings.starts);
    const wanted = this.#starts.kind === "fresh" ? settings.starts_per_task : undefined;
    this.trials = this.suite.tasks.map((task) => wanted ?? this.suite.pack.readInitStates(task).count);
    this.#resetIds = new ResetIds({
      trials: this.trials,
      groups: size / groupSize,
      groupSize,
      seed: settings.seed,
      instances: parts.instances ?? 1,
      instance: parts.instance ?? 0,
      ordered: settings.use_ordered_reset_state_ids,
      evaluation: settings.is_eval,
      specificId: settings.specific_reset_id ?? undefined,
      taskFilter: settings.task_id_filter ?? undefined,
    });
    const picture = [camera.camera_heights, camera.camera_widths] as const;
    this.#views = new SlotViews(size, handsOf(this.suite.pack), {
      picture,
      withWrist: settings.wrist_camera,
      instruction: this.suite.tasks[0]?.language ?? "",
    });
    this.#slots = Array.from({ length: size }, () => ({
      start: undefined,
      account: newAccount(),
      counted: false,
    }));
    this.#watcher = parts.watcher;
    this.#film = parts.film;
    this.#pool = new HostPool(
      {
        suite: settings.task_suite_name,
        width: picture[1],
        height: picture[0],
        wrist: settings.wrist_camera,
        film: parts.film,
        settleSteps: settings.settle_steps ?? undefined,
        gripperOpen: settings.reset_gripper_open,
      },
      {
        slots: size,
        workers: settings.env_workers,
        patience: { start: settings.worker_start_timeout, answer: settings.worker_timeout },
        launcher: parts.launcher,
        say: parts.say,
      },
    );
  }

  get resetIds(): readonly number[] {
    return this.#resetIds.current;
  }

  updateResetIds(): void {
    this.#resetIds.advance();
    this.#telling = this.#telling.then(() => this.#watcher?.rolloutEnded?.());
    this.#telling.catch(() => {}); // comes to light at the next reset, step or close
  }

  /** Begins an evaluation anew: the first starts again, nothing counted. */
  restartEvaluation(): void {
    this.#tally.clear();
    this.#resetIds.restart();
  }

  /** Successes and finished episodes of this evaluation, by task id. */
  get taskResults(): ReadonlyMap<number, Readonly<TaskTally>> {
    return this.#tally.tasks;
  }

  /** Worker processes: how many were lost and replaced, and which live. */
  get workers(): { readonly losses: number; readonly pids: readonly number[] } {
    return { losses: this.#pool.losses, pids: this.#pool.pids };
  }

  /** What a slot plays; undefined when it rests because its evaluation pool is empty. */
  startOf(slot: number): SlotStart | undefined {
    return this.#slots[slot]?.start;
  }

  /** False for a slot that rests. */
  isPlaying(slot: number): boolean {
    return this.startOf(slot) !== undefined;
  }

  async reset(request: ResetRequest = {}): Promise<Observation> {
    await this.#telling;
    const slots = request.slots ?? this.#slots.map((_, slot) => slot);
    const { is_eval: evaluation, use_fixed_reset_state_ids: fixed } = this.settings;
    const scheduled = (fixed || evaluation) && !request.slots;
    const ids = request.ids ?? (scheduled ? this.resetIds : this.#resetIds.drawFor(slots));
    if (ids.length !== slots.length) throw new UserError(`${ids.length} reset ids for ${slots.length} slots`);
    await this.#begin(slots, ids);
    return this.#views.observation();
  }

  async step(actions: Tensor): Promise<EnvStep> {
    await this.#telling;
    const { chunk, rows } = readActions(actions, this.size, this.actionSize);
    const { auto_reset: autoReset, ignore_terminations: ignore } = this.settings;
    const rests = (counted: boolean) => counted && !autoReset && !ignore; // over, and nothing follows before the next reset
    const playing = this.#slots.flatMap(({ start, counted }, slot) =>
      start && !rests(counted) ? [slot] : [],
    );
    const films = (slot: number) => this.#watcher?.films?.(slot) ?? false;
    const requests = playing.map((slot) => ({ slot, actions: rows[slot]!, film: films(slot) }));
    const sights = await this.#pool.chunk(requests);
    const board = new ChunkBoard(this.size, chunk);
    for (const [i, slot] of playing.entries()) await this.#enter(slot, rows[slot]!, sights[i]!, board);
    await this.#watcher?.chunkEnded?.();
    return this.#answer(board);
  }

  /** All that the episodes and draws to come depend on. */
  save(): SimulatorEnvState {
    const slots = this.#slots.map(({ start, account, counted }, slot) => {
      const snapshot = this.#pool.snapshot(slot);
      return { start, account: { ...account }, counted, snapshot: start ? snapshot : undefined };
    });
    return { resetIds: this.#resetIds.save(), slots };
  }

  /** Goes on from a saved state. The observation is that of the next step. */
  async load({ resetIds, slots }: SimulatorEnvState): Promise<void> {
    this.#resetIds.restore(resetIds);
    for (const [slot, { start, account, counted }] of slots.entries()) {
      this.#slots[slot] = { start, account: { ...account }, counted };
      if (start) this.#views.describe(slot, this.suite.tasks[start.task]!.language);
    }
    await this.#pool.restore(slots.flatMap(({ snapshot }) => (snapshot ? [snapshot] : [])));
  }

  async close(): Promise<void> {
    this.#pool.close();
    await this.#telling;
    await this.#watcher?.closed?.();
  }

  async #begin(slots: readonly number[], ids: readonly number[]): Promise<void> {
    const starts: SlotStart[] = [];
    for (const [i, slot] of slots.entries()) {
      const start = ids[i] === exhausted ? undefined : this.#startOf(slot, ids[i]!);
      this.#slots[slot] = { start, account: newAccount(), counted: false };
      if (start) starts.push(start);
    }
    const film = this.#film !== undefined;
    const sights = await this.#pool.begin(starts.map((start) => ({ ...start, film })));
    for (const [i, start] of starts.entries()) {
      const { language } = this.suite.tasks[start.task]!;
      this.#views.describe(start.slot, language);
      this.#views.show(start.slot, sights[i]!);
      await this.#watcher?.began?.(start, language, sights[i]!);
    }
    if (starts.length > 0) await this.#watcher?.settled?.();
  }

  #startOf(slot: number, id: number): SlotStart {
    const { task, trial } = locateStart(id, this.trials);
    const { kind, seed } = this.#starts;
    if (kind === "fresh") return { slot, task, trial, seed: freshStartSeed(seed, task, trial), fresh: true };
    return { slot, task, trial, seed: sceneSeed(this.settings.seed, id) };
  }

  /** A slot's chunk: rewards, flags, metrics, view. */
  async #enter(slot: number, actions: Float32Array, sight: ChunkSight, board: ChunkBoard): Promise<void> {
    const record = this.#slots[slot]!;
    const { account } = record;
    const outcomes = Array.from(sight.success, (success) => enterStep(account, success === 1, this.settings));
    for (const [i, outcome] of outcomes.entries()) board.write(slot, i, outcome);
    this.#views.show(slot, sight);
    await this.#watcher?.played?.({ slot, actions, sight, outcomes, account });
    if (!board.isDone(slot) || record.counted) return;
    record.counted = true;
    const { task, trial } = record.start!;
    const isNew = !this.settings.is_eval || this.#tally.count(task, trial, record.account.successOnce);
    if (!isNew && this.settings.auto_reset) board.silence(slot);
  }

  async #answer(board: ChunkBoard): Promise<EnvStep> {
    const { auto_reset: autoReset, ignore_terminations: ignore } = this.settings;
    const done = this.#slots.flatMap((_, slot) => (board.isDone(slot) ? [slot] : []));
    if (autoReset || ignore) board.gatherFlags();
    const before = {
      ...board.tensors(),
      episode: episodeStats(
        this.#slots.map(({ account }) => account),
        this.settings,
      ),
    };
    const observation = this.#views.observation();
    if (!autoReset || done.length === 0) return { observation, ...before };
    await this.#begin(done, this.#nextIds(done));
    return { observation: this.#views.observation(), ...before, finalObservation: observation };
  }

  /** Starts for slots that reset themselves. */
  #nextIds(slots: readonly number[]): readonly number[] {
    if (this.settings.is_eval) return this.#resetIds.take(slots.length);
    if (!this.settings.use_fixed_reset_state_ids) return this.#resetIds.drawFor(slots);
    this.#resetIds.advance();
    return slots.map((slot) => this.resetIds[slot]!);
  }
}
