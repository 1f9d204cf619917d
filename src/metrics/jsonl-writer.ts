/**
 * `metrics.jsonl`: one line per step, written at once, so that a killed run loses at most the line in flight.
 *
 * `{"step":3,"time":1700000000.5,"train/loss":0.1,…}`. JSON has no NaN or infinity; they are written as texts
 * and read back as numbers. A resumed run drops the lines of steps that it will do again.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Metrics, MetricsWriter } from "./metric.ts";

export interface MetricsLine {
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly metrics: Metrics;
}

export class JsonlWriter implements MetricsWriter {
  readonly #descriptor: number;
  #closed = false;

  /** `step`: the first step that this run will write; later lines of an earlier run are dropped. */
  constructor(path: string, { step = 0 }: { readonly step?: number } = {}) {
    mkdirSync(dirname(path), { recursive: true });
    if (existsSync(path)) keepLinesBefore(path, step);
    this.#descriptor = openSync(path, "a");
  }

  write(step: number, metrics: Metrics): void {
    writeSync(this.#descriptor, encodeLine({ step, time: Date.now() / 1000, metrics }));
  }

  async close(): Promise<void> {
    if (!this.#closed) closeSync(this.#descriptor);
    this.#closed = true;
  }
}

/** The lines of a metrics file; a last line that was cut in the writing is left out. */
export function readMetricsFile(path: string): MetricsLine[] {
  return readFileSync(path, "utf8").split("\n").flatMap(decodeLine);
}

export function encodeLine({ step, time, metrics }: MetricsLine): string {
  const numbers = Object.entries(metrics).map(([name, value]) => [
    name,
    Number.isFinite(value) ? value : String(value),
  ]);
  return `${JSON.stringify({ step, time, ...Object.fromEntries(numbers) })}\n`;
}

/** One line, or none when it is not a whole one. */
export function decodeLine(text: string): MetricsLine[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  if (typeof value !== "object" || value === null) return [];
  const { step, time, ...rest } = value as Record<string, unknown>;
  if (typeof step !== "number" || typeof time !== "number") return [];
  const metrics = Object.fromEntries(Object.entries(rest).map(([name, number]) => [name, Number(number)]));
  return [{ step, time, metrics }];
}

function keepLinesBefore(path: string, step: number): void {
  const kept = readMetricsFile(path).filter((line) => line.step < step);
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, kept.map(encodeLine).join(""));
  renameSync(temporary, path);
}
