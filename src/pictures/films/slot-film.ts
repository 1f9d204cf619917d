/** What one slot shows on film: its pictures, and below them a caption about its episode. */
import { type CaptionLine, Captions } from "../caption.ts";
import { enlarge, type Rgb } from "../rgb.ts";
import type { FilmedChunk, FilmedSight } from "./film.ts";

export interface FilmOptions {
  /** Of the pictures that are filmed. */
  readonly width: number;
  readonly height: number;
  /** Write task, step, return and success below the pictures. */
  readonly caption: boolean;
}

/** Small pictures, which only imagined envs have, are enlarged to at least this width. */
const legibleWidth = 256;
const captionRows = 4; // two for a long instruction, two for numbers
const green = "#8fd19e";

/** How an episode has gone up to a moment. */
export interface Progress {
  readonly step: number;
  /** Rewards up to the first success, as it is logged. */
  readonly return: number;
  readonly success: boolean;
}

const beginning: Progress = { step: 0, return: 0, success: false };

export class SlotFilm {
  readonly #options: FilmOptions;
  readonly #factor: number;
  readonly #captions: Captions;
  #instruction = "";
  #progress = beginning;

  constructor(options: FilmOptions) {
    this.#options = options;
    this.#factor = Math.max(1, Math.ceil(legibleWidth / options.width));
    this.#captions = new Captions(this.#factor * options.width, captionRows);
  }

  begin(instruction: string, sight: FilmedSight): Rgb {
    this.#instruction = instruction;
    this.#progress = beginning;
    return this.#frame(sight.film?.[0] ?? sight.main, beginning);
  }

  /** One picture per action of the chunk. */
  continue(chunk: FilmedChunk): Rgb[] {
    const pictures = chunk.sight.film ?? [chunk.sight.main];
    const progress = progressOf(chunk, this.#progress);
    this.#progress = progress.at(-1) ?? this.#progress;
    const shown = progress.slice(-pictures.length);
    return pictures.map((picture, i) => this.#frame(picture, shown[i]!));
  }

  #frame(data: Uint8Array, { step, return: sum, success }: Progress): Rgb {
    const { width, height, caption } = this.#options;
    const picture = enlarge({ width, height, data }, this.#factor);
    if (!caption) return picture;
    const lines: CaptionLine[] = [
      { text: this.#instruction, strong: true },
      { text: `step ${step}, return ${sum.toFixed(2)}` },
      ...(success ? [{ text: "success", color: green, strong: true }] : []),
    ];
    return this.#captions.below(picture, lines);
  }
}

/**
 * After each action of a chunk. A reward is paid once, mostly when a success begins, and is 0 on all other pictures, so films show
 * the return and whether there was a success, not the moment's reward.
 */
export function progressOf({ sight, outcomes, account }: FilmedChunk, before: Progress): Progress[] {
  let { return: sum, success } = before;
  return outcomes.map(({ reward }, i) => {
    if (!success) sum += reward;
    success ||= sight.success[i] === 1;
    return { step: account.elapsed - outcomes.length + i + 1, return: sum, success };
  });
}
