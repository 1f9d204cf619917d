/** What one slot shows on film: its pictures with a caption about its episode. */
import type { FilmedChunk, FilmedSight } from "./film.ts";
import { enlarge, type Rgb, writeOn } from "./picture.ts";

export interface FilmOptions {
  /** Of the env's pictures. */
  readonly width: number;
  readonly height: number;
  /** Write task, step, return and success on the pictures. */
  readonly caption: boolean;
}

/** Small pictures are enlarged to at least this width, so that captions can be read. */
const legibleWidth = 256;

export class SlotFilm {
  readonly #options: FilmOptions;
  #instruction = "";
  #return = 0; // rewards of the episode so far

  constructor(options: FilmOptions) {
    this.#options = options;
  }

  begin(instruction: string, sight: FilmedSight): Rgb {
    this.#instruction = instruction;
    this.#return = 0;
    return this.#frame(sight.main, ["step 0"]);
  }

  /** One picture per action of the chunk. */
  continue(chunk: FilmedChunk): Rgb[] {
    const pictures = chunk.sight.film ?? [chunk.sight.main];
    const captions = captionsOf(chunk, this.#return).slice(-pictures.length);
    this.#return = chunk.outcomes.reduce((sum, { reward }) => sum + reward, this.#return);
    return pictures.map((picture, i) => this.#frame(picture, captions[i]!));
  }

  #frame(data: Uint8Array, lines: readonly string[]): Rgb {
    const { width, height, caption } = this.#options;
    const picture = enlarge({ width, height, data }, Math.max(1, Math.ceil(legibleWidth / width)));
    return caption ? writeOn(picture, [this.#instruction, ...lines]) : picture;
  }
}

/**
 * What is said about each action of a chunk. A reward is paid once, mostly when a success begins, and is 0 on all other pictures:
 * so this says the episode's return so far.
 *
 * @param before the return before the chunk.
 */
export function captionsOf({ sight, outcomes, account }: FilmedChunk, before: number): string[][] {
  let sum = before;
  return outcomes.map(({ reward }, i) => {
    sum += reward;
    const step = account.elapsed - outcomes.length + i + 1;
    return [`step ${step}  return: ${sum.toFixed(3)}`, `success: ${sight.success[i] === 1}`];
  });
}
