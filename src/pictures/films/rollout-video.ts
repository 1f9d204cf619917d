/** Films all slots of an env side by side, one MP4 per rollout: `<folder>/seed_<seed>/<k>.mp4`. */
import { join } from "node:path";
import { Mp4Writer } from "#formats";
import { type Rgb, tile } from "../rgb.ts";
import type { Film, FilmedChunk, FilmedSight, FilmedStart } from "./film.ts";
import { type FilmOptions, SlotFilm } from "./slot-film.ts";

export interface RolloutVideoOptions extends FilmOptions {
  readonly folder: string;
  readonly seed: number;
  readonly slots: number;
  readonly fps: number;
}

export class RolloutVideo implements Film {
  readonly #options: RolloutVideoOptions;
  readonly #films: readonly SlotFilm[];
  /** What each slot showed last, and what it showed in the chunk that is coming in. */
  readonly #last: (Rgb | undefined)[];
  readonly #coming = new Map<number, readonly Rgb[]>();
  #writer: Mp4Writer | undefined;
  #count = 0;
  /** Videos finished so far. */
  readonly paths: string[] = [];

  constructor(options: RolloutVideoOptions) {
    this.#options = options;
    this.#films = Array.from({ length: options.slots }, () => new SlotFilm(options));
    this.#last = Array<Rgb | undefined>(options.slots).fill(undefined);
  }

  films(): boolean {
    return true;
  }

  began(start: FilmedStart, instruction: string, sight: FilmedSight): void {
    this.#last[start.slot] = this.#films[start.slot]!.begin(instruction, sight);
  }

  /** After a reset: one picture of all slots. */
  async settled(): Promise<void> {
    await this.#write(this.#last);
  }

  played(chunk: FilmedChunk): void {
    this.#coming.set(chunk.slot, this.#films[chunk.slot]!.continue(chunk));
  }

  /** After a chunk: one picture per action; slots that rest keep showing their last. */
  async chunkEnded(): Promise<void> {
    const length = Math.max(0, ...[...this.#coming.values()].map((pictures) => pictures.length));
    for (let i = 0; i < length; i++) {
      for (const [slot, pictures] of this.#coming) this.#last[slot] = pictures[i] ?? this.#last[slot];
      await this.#write(this.#last);
    }
    this.#coming.clear();
  }

  /** Ends the video of this rollout; the next picture begins another. Resolves when the file is there. */
  async flush(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (!writer) return;
    await writer.close();
    this.paths.push(writer.path);
  }

  rolloutEnded(): Promise<void> {
    return this.flush();
  }

  closed(): Promise<void> {
    return this.flush();
  }

  async #write(pictures: readonly (Rgb | undefined)[]): Promise<void> {
    const some = pictures.find((picture) => picture);
    if (!some) return;
    const black = { ...some, data: new Uint8Array(some.data.length) };
    const { width, height, data } = tile(pictures.map((picture) => picture ?? black));
    const { folder, seed, fps } = this.#options;
    const path = join(folder, `seed_${seed}`, `${this.#count}.mp4`);
    if (!this.#writer) this.#count++;
    this.#writer ??= new Mp4Writer(path, { width, height, fps });
    await this.#writer.addFrame(data);
  }
}
