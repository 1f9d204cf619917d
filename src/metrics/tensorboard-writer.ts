/**
 * Writes event files that TensorBoard reads, without TensorBoard or Python.
 *
 * Every record goes to the file at once: TensorBoard can follow a live run, and a killed one loses nothing.
 */
import { hostname } from "node:os";
import { join } from "node:path";
import { encodePng } from "#formats";
import { LastingFile } from "./lasting-file.ts";
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
  readonly #file: LastingFile;

  /** `step`: the first that will be written; when it is not 0, later steps of earlier files are superseded. */
  constructor(folder: string, { step = 0 }: { readonly step?: number } = {}) {
    const time = Date.now() / 1000;
    const stamp = String(Math.floor(time)).padStart(10, "0");
    this.path = join(folder, `events.out.tfevents.${stamp}.${hostname()}.${process.pid}.${serial++}`);
    this.#file = new LastingFile(this.path, { fresh: true });
    this.#file.append(versionRecord(time));
    if (step > 0) this.#file.append(restartRecord({ step, time }));
  }

  write(step: number, metrics: Metrics): void {
    this.#file.append(scalarsRecord({ step, time: Date.now() / 1000 }, metrics));
  }

  show(step: number, tag: string, picture: Picture): void {
    const { width, height } = picture;
    const png = encodePng({ ...picture, channels: 3 });
    const record = imageRecord({ step, time: Date.now() / 1000 }, tag, { width, height, channels: 3, png });
    this.#file.append(record);
  }

  /** Markdown, for the "text" page. */
  writeText(step: number, tag: string, text: string): void {
    this.#file.append(textRecord({ step, time: Date.now() / 1000 }, tag, text));
  }

  async close(): Promise<void> {
    this.#file.close();
  }
}
