/**
 * Which stored start each slot begins from.
 *
 * All starts of a suite are numbered: task 0's first, then task 1's, and so on. A group of slots shares its start, which
 * is what makes their returns comparable. Training draws at random, or walks through a shuffled list; evaluation deals
 * every start to exactly one instance, (task 0, trial 0), (task 1, trial 0), …, so that each counts once. Numbers and
 * order are those of the reference with one instance (NumPy's default generator, `Pcg64`).
 *
 * Where we depart: a training draw is made for the groups of all instances, in every instance alike, and each takes its
 * part; a slot that restarts on its own has a stream of its own. So the starts do not depend on how many workers and
 * pipeline stages share the slots.
 */
import { Pcg64, slotResetSeed } from "#random";
import { UserError } from "#registry";

export interface ResetIdOptions {
  /** Stored starts of each task. */
  readonly trials: readonly number[];
  readonly groups: number;
  readonly groupSize: number;
  readonly seed: number;
  /** How many env instances share the suite, and which of them this is. */
  readonly instances: number;
  readonly instance: number;
  readonly ordered: boolean;
  readonly evaluation: boolean;
  /** Always this start. */
  readonly specificId?: number | undefined;
  /** Only these tasks. */
  readonly taskFilter?: readonly number[] | undefined;
}

/** In place of an id: every start of this instance has been dealt out. */
export const exhausted = -1;

export class ResetIds {
  readonly #options: ResetIdOptions;
  readonly #allowed: readonly number[];
  readonly #random: Pcg64;
  /** Streams of slots that restart on their own, by slot. */
  readonly #own = new Map<number, Pcg64>();
  readonly #order = new Pcg64(0);
  #queue: readonly number[];
  #next = 0;
  #current: readonly number[];

  constructor(options: ResetIdOptions) {
    check(options);
    this.#options = options;
    this.#allowed = allowedIds(options);
    this.#random = new Pcg64(options.seed);
    this.#queue = this.#makeQueue();
    this.#current = this.#draw();
  }

  /** The starts of the scheduled reset, one per slot, groups together. */
  get current(): readonly number[] {
    return this.#current;
  }

  /** Draws the starts of the next scheduled reset. */
  advance(): void {
    this.#current = this.#draw();
  }

  /** Evaluation from the beginning. */
  restart(): void {
    this.#next = 0;
    this.#current = this.#draw();
  }

  /** A random start of its own for each of these slots. */
  drawFor(slots: readonly number[]): number[] {
    return slots.map((slot) => this.#drawFrom(this.#streamOf(slot)));
  }

  /** The next starts in order; for evaluation, `exhausted` when there are no more. */
  take(count: number): number[] {
    const { specificId, evaluation } = this.#options;
    if (specificId !== undefined) return Array<number>(count).fill(specificId);
    if (!evaluation && this.#next + count > this.#queue.length) {
      this.#queue = this.#makeQueue();
      this.#next = 0;
    }
    const taken = Array.from({ length: count }, (_, i) => this.#queue[this.#next + i] ?? exhausted);
    this.#next = Math.min(this.#next + count, this.#queue.length);
    return taken;
  }

  save(): string {
    const streams = [this.#random.save(), this.#order.save()];
    const own = [...this.#own].map(([slot, stream]) => [slot, stream.save()]);
    return JSON.stringify({ streams, own, queue: this.#queue, next: this.#next, current: this.#current });
  }

  restore(saved: string): void {
    const { streams, own, queue, next, current } = JSON.parse(saved);
    this.#own.clear();
    for (const [slot, stream] of own) this.#streamOf(slot).restore(stream);
    this.#random.restore(streams[0]);
    this.#order.restore(streams[1]);
    [this.#queue, this.#next, this.#current] = [queue, next, current];
  }

  #draw(): number[] {
    const { ordered, evaluation, groups, groupSize, instances, instance } = this.#options;
    const repeated = (ids: readonly number[]) => ids.flatMap((id) => Array<number>(groupSize).fill(id));
    if (evaluation) return repeated(this.take(groups));
    const count = groups * instances;
    const all = ordered
      ? this.take(count)
      : Array.from({ length: count }, () => this.#drawFrom(this.#random));
    return repeated(all.slice(instance * groups, (instance + 1) * groups));
  }

  #drawFrom(stream: Pcg64): number {
    return this.#options.specificId ?? this.#allowed[stream.integer(this.#allowed.length)]!;
  }

  #streamOf(slot: number): Pcg64 {
    const { seed, instance, groups, groupSize } = this.#options;
    const number = instance * groups * groupSize + slot; // among all slots of the run
    const stream = this.#own.get(slot) ?? new Pcg64(slotResetSeed(seed, number));
    this.#own.set(slot, stream);
    return stream;
  }

  /** The starts in the order in which they are taken: of evaluation this instance's share, of training all. */
  #makeQueue(): number[] {
    const { evaluation, instances, instance } = this.#options;
    if (evaluation) return interleave(this.#options).filter((_, i) => i % instances === instance);
    const ids = [...this.#allowed];
    this.#order.shuffle(ids);
    return ids;
  }
}

/** Which task and which of its starts an id means. */
export function locateStart(id: number, trials: readonly number[]): { task: number; trial: number } {
  let first = 0;
  for (const [task, count] of trials.entries()) {
    if (id >= first && id < first + count) return { task, trial: id - first };
    first += count;
  }
  throw new UserError(`reset id ${id}: this suite has ids 0 to ${first - 1}`);
}

const total = (trials: readonly number[]): number => trials.reduce((sum, count) => sum + count, 0);

const isAllowed = ({ taskFilter }: ResetIdOptions, task: number): boolean =>
  taskFilter === undefined || taskFilter.includes(task);

function allowedIds(options: ResetIdOptions): number[] {
  const ids = Array.from({ length: total(options.trials) }, (_, id) => id);
  return ids.filter((id) => isAllowed(options, locateStart(id, options.trials).task));
}

function interleave(options: ResetIdOptions): number[] {
  const firsts = options.trials.map((_, task) => total(options.trials.slice(0, task)));
  const ids: number[] = [];
  for (let trial = 0; trial < Math.max(...options.trials); trial++)
    for (const [task, count] of options.trials.entries())
      if (trial < count && isAllowed(options, task)) ids.push(firsts[task]! + trial);
  return ids;
}

function check({
  trials,
  taskFilter,
  specificId,
  groups,
  ordered,
  evaluation,
  instances,
}: ResetIdOptions): void {
  if (specificId !== undefined) locateStart(specificId, trials);
  for (const task of taskFilter ?? [])
    if (!Number.isInteger(task) || task < 0 || task >= trials.length)
      throw new UserError(
        `task_id_filter names task ${task}; this suite has tasks 0 to ${trials.length - 1}`,
      );
  if (taskFilter?.length === 0) throw new UserError("task_id_filter is empty: name tasks, or leave it out");
  const starts = total((taskFilter ?? [...trials.keys()]).map((task) => trials[task]!));
  const all = groups * instances;
  if (ordered && !evaluation && specificId === undefined && all > starts)
    throw new UserError(
      `${all} groups of envs cannot begin from different starts: there are ${starts}; ` +
        "lower total_num_envs, raise group_size, or set use_ordered_reset_state_ids: false",
    );
}
