/**
 * Where the time of a step goes: `time/generate_rollouts`, `time/actor_training`, …, in seconds.
 *
 * A phase may run several times in a step (its times add up) and phases may overlap, as rollout and env do in
 * a pipeline; so the parts need not sum to `time/step`.
 */
import type { Metrics } from "./metric.ts";

export class Timers {
  readonly #now: () => number;
  readonly #seconds = new Map<string, number>();

  /** `now` in milliseconds; another clock makes tests exact. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async run<T>(name: string, work: () => Promise<T> | T): Promise<T> {
    const start = this.#now();
    try {
      return await work();
    } finally {
      this.add(name, (this.#now() - start) / 1000);
    }
  }

  add(name: string, seconds: number): void {
    this.#seconds.set(name, (this.#seconds.get(name) ?? 0) + seconds);
  }

  /** The seconds of each phase under `time/`; and a fresh start. */
  take(): Metrics {
    const times = [...this.#seconds].map(([name, seconds]) => [`time/${name}`, seconds]);
    this.#seconds.clear();
    return Object.fromEntries(times) as Metrics;
  }
}
