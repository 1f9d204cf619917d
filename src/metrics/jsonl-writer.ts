/**
 * `metrics.jsonl`: one line per step, written at once, so that a killed run loses at most the line in flight.
 *
 * `{"step":3,"time":1700000000.5,"train/loss":0.1,…}`. JSON has no NaN or infinity; they are written as texts and read back as
 * numbers. A resumed run does some steps again: their first lines go to `metrics.redone.jsonl`.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LastingFile } from "./lasting-file.ts";
import type { Metrics, MetricsWriter } from "./metric.ts";

export interface MetricsLine {
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly metrics: Metrics;
}

export const metricsFile = (folder: string): string => join(folder, "metrics.jsonl");

export interface JsonlOptions {
  /** The first step that this run will write. */
  readonly step?: number;
  readonly warn?: ((text: string) => void) | undefined;
}

export class JsonlWriter implements MetricsWriter {
  readonly #file: LastingFile;

  constructor(path: string, { step = 0, warn }: JsonlOptions = {}) {
    cutMetrics(path, step);
    this.#file = new LastingFile(path, { warn });
  }

  write(step: number, metrics: Metrics): void {
    this.#file.append(encodeLine({ step, time: Date.now() / 1000, metrics }));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}

/** The lines of a metrics file; a last line that was cut in the writing is left out. */
export function readMetricsFile(path: string): MetricsLine[] {
  return readFileSync(path, "utf8").split("\n").flatMap(decodeLine);
}

/** Takes the lines of this step and later ones out of the file, into one beside it. */
export function cutMetrics(path: string, step: number): void {
  if (!existsSync(path)) return;
  const text = readFileSync(path, "utf8");
  const whole = text.split("\n").filter((line) => decodeLine(line).length > 0);
  const stays = (line: string): boolean => decodeLine(line)[0]!.step < step;
  const [kept, redone] = [whole.filter(stays), whole.filter((line) => !stays(line))];
  if (textOf(kept) === text) return;
  if (redone.length > 0) appendFileSync(path.replace(/(\.jsonl)?$/, ".redone.jsonl"), textOf(redone));
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, textOf(kept));
  renameSync(temporary, path);
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

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
