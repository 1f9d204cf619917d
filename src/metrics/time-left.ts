/**
 * How long a run will still take, from the steps so far.
 *
 * A mean over the last steps, later ones counting more, because episodes grow shorter as a policy learns. The
 * very first step compiles scenes and warms caches; it counts only until there is another.
 */
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
    this.#recent = [...earlier, seconds].slice(-20);
    this.#seen++;
    this.#done++;
  }

  /** Seconds, or NaN before the first step is done. */
  seconds(): number {
    const weights = this.#recent.reduce((sum, _, i) => sum + i + 1, 0);
    const weighted = this.#recent.reduce((sum, seconds, i) => sum + seconds * (i + 1), 0);
    return (weighted / weights) * Math.max(this.#total - this.#done, 0);
  }
}
