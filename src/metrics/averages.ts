/**
 * Averages over the micro-batches, episodes or ranks of one step.
 *
 * Weighted, because the last micro-batch may be smaller than the others and a plain mean of means is then not
 * the mean. NaN stays out of a mean unless nothing else was seen: explained variance, for one, has none when
 * all returns are equal.
 */
import type { Metrics } from "./metric.ts";

interface Sum {
  total: number;
  weight: number;
}

export class Averages {
  readonly #sums = new Map<string, Sum>();

  add(metrics: Metrics, weight = 1): void {
    for (const [name, value] of Object.entries(metrics)) {
      const sum = this.#sums.get(name) ?? { total: 0, weight: 0 };
      if (!Number.isNaN(value)) {
        sum.total += value * weight;
        sum.weight += weight;
      }
      this.#sums.set(name, sum);
    }
  }

  /** The means so far; and a fresh start. */
  take(): Metrics {
    const means = [...this.#sums].map(([name, { total, weight }]) => [
      name,
      weight > 0 ? total / weight : Number.NaN,
    ]);
    this.#sums.clear();
    return Object.fromEntries(means) as Metrics;
  }
}
