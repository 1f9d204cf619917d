/**
 * Writes event files that TensorBoard reads, without TensorBoard or Python.
 *
 * Every record goes to the file at once: TensorBoard can follow a live run, and a killed one loses nothing.
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { encodePng } from "#formats";
import type { Metrics, MetricsWriter, Picture } from "./metric.ts";
import {
  imageRecord,
  restartRecord,
  scalarsRecord,
  textRecord,
  versionRecord,
} from "./tensorboard-records.ts";

let serial = 0;

export class TensorboardWriter implements MetricsWriter {
  readonly path: string;
  readonly #descriptor: number;
  #closed = false;

  /** `step`: the first that will be written; when it is not 0, later steps of earlier files are superseded. */
  constructor(folder: string, { step = 0 }: { readonly step?: number } = {}) {
    mkdirSync(folder, { recursive: true });
    const time = Date.now() / 1000;
    const stamp = String(Math.floor(time)).padStart(10, "0");
    this.path = join(folder, `events.out.tfevents.${stamp}.${hostname()}.${process.pid}.${serial++}`);
    this.#descriptor = openSync(this.path, "ax");
    writeSync(this.#descriptor, versionRecord(time));
    if (step > 0) writeSync(this.#descriptor, restartRecord({ step, time }));
  }

  write(step: number, metrics: Metrics): void {
    writeSync(this.#descriptor, scalarsRecord({ step, time: Date.now() / 1000 }, metrics));
  }

  show(step: number, tag: string, picture: Picture): void {
    const { width, height } = picture;
    const png = encodePng({ ...picture, channels: 3 });
    const record = imageRecord({ step, time: Date.now() / 1000 }, tag, { width, height, channels: 3, png });
    writeSync(this.#descriptor, record);
  }

  /** Markdown, for the "text" page. */
  writeText(step: number, tag: string, text: string): void {
    writeSync(this.#descriptor, textRecord({ step, time: Date.now() / 1000 }, tag, text));
  }

  async close(): Promise<void> {
    if (!this.#closed) closeSync(this.#descriptor);
    this.#closed = true;
  }
}
