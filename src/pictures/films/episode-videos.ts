/** Films episodes, one MP4 each: every n-th, or those that failed. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Mp4Writer } from "#formats";
import type { Rgb } from "../rgb.ts";
import type { Film, FilmedChunk, FilmedSight, FilmedStart } from "./film.ts";
import { type FilmOptions, SlotFilm } from "./slot-film.ts";

export interface EpisodeVideoOptions extends FilmOptions {
  readonly folder: string;
  readonly fps: number;
  /** Film one episode of this many; 1: all. */
  readonly every?: number;
  readonly failuresOnly?: boolean;
}

interface Shooting {
  readonly number: number;
  readonly start: FilmedStart;
  readonly film: SlotFilm;
  readonly writer: Mp4Writer;
  success: boolean;
}

export class EpisodeVideos implements Film {
  readonly #options: EpisodeVideoOptions;
  readonly #shooting = new Map<number, Shooting>();
  #count = 0;
  /** Videos finished so far. */
  readonly paths: string[] = [];

  constructor(options: EpisodeVideoOptions) {
    this.#options = options;
  }

  films(slot: number): boolean {
    return this.#shooting.has(slot);
  }

  async began(start: FilmedStart, instruction: string, sight: FilmedSight): Promise<void> {
    await this.#finish(start.slot);
    const number = this.#count++;
    if (number % (this.#options.every ?? 1) !== 0) return;
    const film = new SlotFilm(this.#options);
    const first = film.begin(instruction, sight);
    const writer = this.#open(number, first);
    this.#shooting.set(start.slot, { number, start, film, writer, success: false });
    await writer.addFrame(first.data);
  }

  async played(chunk: FilmedChunk): Promise<void> {
    const shooting = this.#shooting.get(chunk.slot);
    if (!shooting) return;
    for (const { data } of shooting.film.continue(chunk)) await shooting.writer.addFrame(data);
    shooting.success = chunk.account.successOnce;
  }

  /** Ends the videos that are being made. */
  async finish(): Promise<void> {
    for (const slot of [...this.#shooting.keys()]) await this.#finish(slot);
  }

  closed(): Promise<void> {
    return this.finish();
  }

  #open(number: number, { width, height }: Rgb): Mp4Writer {
    const { folder, fps } = this.#options;
    return new Mp4Writer(join(folder, `episode-${String(number).padStart(5, "0")}.mp4`), {
      width,
      height,
      fps,
    });
  }

  async #finish(slot: number): Promise<void> {
    const shooting = this.#shooting.get(slot);
    this.#shooting.delete(slot);
    if (!shooting) return;
    const { writer, start, success } = shooting;
    await writer.close();
    if (this.#options.failuresOnly && success) return rmSync(writer.path, { force: true });
    const verdict = success ? "success" : "failure";
    const path = writer.path.replace(/\.mp4$/, `-${nameOf(start)}-${verdict}.mp4`);
    renameSync(writer.path, path);
    this.paths.push(path);
  }
}

const nameOf = (start: FilmedStart): string =>
  "start" in start ? `start${start.start}` : `task${start.task}-trial${start.trial}`;
