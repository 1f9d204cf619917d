/** The finished episodes of a phase: their numbers by name, and the means that are reported (`env/…`, `eval/…`). */
import type { EnvStep, EpisodeStats } from "#data";

export class EpisodeLog {
  readonly #values = new Map<string, number[]>();
  #episodes = 0;

  /**
   * Enters the given slots' numbers; `ended` says which of them ended by themselves and not by time. `tasks` has each slot's
   * instruction.
   */
  enter(
    stats: EpisodeStats,
    slots: readonly number[],
    ended: (slot: number) => boolean,
    tasks: readonly string[],
  ): void {
    this.#episodes += slots.length;
    for (const slot of slots)
      this.#list(`success_by_task/${tasks[slot]}`).push(stats.success_once?.[slot] ?? Number.NaN);
    for (const [name, numbers] of Object.entries(stats))
      this.#list(name).push(...slots.map((slot) => numbers[slot] ?? Number.NaN));
    this.#list("termination_rate").push(...slots.map((slot) => Number(ended(slot))));
  }

  add(other: EpisodeLog): void {
    this.#episodes += other.#episodes;
    for (const [name, numbers] of other.#values) this.#list(name).push(...numbers);
  }

  get episodes(): number {
    return this.#episodes;
  }

  metrics(prefix: string): Record<string, number> {
    const mean = (numbers: readonly number[]): number =>
      numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    const means = [...this.#values].flatMap(([name, numbers]) =>
      numbers.length > 0 ? [[`${prefix}/${name}`, mean(numbers)] as const] : [],
    );
    return { ...Object.fromEntries(means), [`${prefix}/num_trajectories`]: this.#episodes };
  }

  #list(name: string): number[] {
    const known = this.#values.get(name);
    if (known) return known;
    const made: number[] = [];
    this.#values.set(name, made);
    return made;
  }
}

/** Which slots' flags are set anywhere in the chunk. */
export function flaggedSlots(step: Pick<EnvStep, "terminated" | "truncated">): {
  readonly terminated: readonly boolean[];
  readonly done: readonly boolean[];
} {
  const any = (flags: EnvStep["terminated"]): boolean[] => {
    const [slots = 0, chunk = 1] = flags.shape;
    const values = flags.toArray();
    return Array.from({ length: slots }, (_, slot) =>
      values.slice(slot * chunk, (slot + 1) * chunk).some((value) => Number(value) !== 0),
    );
  };
  const terminated = any(step.terminated);
  const truncated = any(step.truncated);
  return { terminated, done: terminated.map((ended, slot) => ended || (truncated[slot] ?? false)) };
}
