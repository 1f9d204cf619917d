/** `metrics.log`: each step's numbers as a small table, for reading with less and tail -f. */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Metrics, MetricsWriter } from "./metric.ts";

export class TableWriter implements MetricsWriter {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  write(step: number, metrics: Metrics): void {
    mkdirSync(dirname(this.#path), { recursive: true }); // the folder may have been removed since
    appendFileSync(this.#path, `step ${step}  ${new Date().toISOString()}\n${formatTable(metrics)}\n\n`);
  }

  async close(): Promise<void> {}
}

/** One line per metric, grouped by the first part of its name. */
export function formatTable(metrics: Metrics): string {
  const names = Object.keys(metrics).sort((a, b) => (a < b ? -1 : 1));
  const width = Math.max(0, ...names.map((name) => name.length));
  return names.map((name) => `  ${name.padEnd(width)}  ${formatNumber(metrics[name]!)}`).join("\n");
}

/** Four digits that matter: enough to read, and the same width for most. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(3);
}
