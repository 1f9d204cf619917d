/** Counts finished episodes of an evaluation by task, each stored start once. */
export interface TaskTally {
  success: number;
  total: number;
}

export class EvaluationTally {
  readonly #seen = new Set<string>();
  readonly #tasks = new Map<number, TaskTally>();

  /** False when this start was counted before: such an episode must not count twice. */
  count(task: number, trial: number, success: boolean): boolean {
    const key = `${task}/${trial}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    const tally = this.#tasks.get(task) ?? { success: 0, total: 0 };
    tally.total++;
    tally.success += Number(success);
    this.#tasks.set(task, tally);
    return true;
  }

  /** By task id, in order. */
  get tasks(): ReadonlyMap<number, Readonly<TaskTally>> {
    return new Map([...this.#tasks].sort(([a], [b]) => a - b));
  }

  clear(): void {
    this.#seen.clear();
    this.#tasks.clear();
  }
}
