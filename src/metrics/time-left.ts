/**
 * How long a run will still take, from the steps so far.
 *
 * By the median of the last steps: one that was slow, because the machine was busy or a checkpoint was written, says little about the next.
 * Only a few count, because episodes grow shorter as a policy learns. The very first step compiles scenes and warms caches; it
 * counts only until there is another.
 */
const counted = 9;

export class TimeLeft {
  readonly #total: number;
  #recent: number[] = [];
  #done: number;
  #seen = 0;

  constructor(totalSteps: number, done = 0) {
    this.#total = totalSteps;
    this.#done = done;
  }

  stepTook(seconds: number): void {
    const earlier = this.#seen === 1 ? [] : this.#recent;
    this.#recent = [...earlier, seconds].slice(-counted);
    this.#seen++;
    this.#done++;
  }

  /** Steps that were timed. */
  get seen(): number {
    return this.#seen;
  }

  /** Seconds that a step takes; NaN before the first is done. */
  get stepSeconds(): number {
    const sorted = [...this.#recent].sort((a, b) => a - b);
    const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
    return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
  }

  /**
   * Seconds, `inStep` seconds after the step under way began. NaN when nobody knows: before the first step is done, and when the last one
   * takes longer than steps do.
   */
  seconds(inStep = 0): number {
    const steps = Math.max(this.#total - this.#done, 0);
    if (steps === 0) return 0;
    const rest = this.stepSeconds - inStep;
    if (rest <= 0 && steps === 1) return Number.NaN;
    return Math.max(rest, 0) + (steps - 1) * this.stepSeconds;
  }
}
