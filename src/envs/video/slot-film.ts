/** What one slot shows on film: its pictures with a caption about its episode. */
import type { FilmedChunk, FilmedSight } from "./film.ts";
import { enlarge, type Rgb, writeOn } from "./picture.ts";

export interface FilmOptions {
  /** Of the env's pictures. */
  readonly width: number;
  readonly height: number;
  /** Write task, step, reward and success on the pictures. */
  readonly caption: boolean;
}

/** Small pictures are enlarged to at least this width, so that captions can be read. */
const legibleWidth = 256;

export class SlotFilm {
  readonly #options: FilmOptions;
  #instruction = "";

  constructor(options: FilmOptions) {
    this.#options = options;
  }

  begin(instruction: string, sight: FilmedSight): Rgb {
    this.#instruction = instruction;
    return this.#frame(sight.main, ["step 0"]);
  }

  /** One picture per action of the chunk. */
  continue({ sight, outcomes, account }: FilmedChunk): Rgb[] {
    const pictures = sight.film ?? [sight.main];
    const skipped = outcomes.length - pictures.length;
    return pictures.map((picture, i) => {
      const step = account.elapsed - pictures.length + i + 1;
      const { reward, terminated } = outcomes[skipped + i]!;
      const success = sight.success[skipped + i] === 1;
      const numbers = `step ${step}  reward: ${reward.toFixed(3)}`;
      return this.#frame(picture, [numbers, `success: ${success}  termination: ${terminated}`]);
    });
  }

  #frame(data: Uint8Array, lines: readonly string[]): Rgb {
    const { width, height, caption } = this.#options;
    const picture = enlarge({ width, height, data }, Math.max(1, Math.ceil(legibleWidth / width)));
    return caption ? writeOn(picture, [this.#instruction, ...lines]) : picture;
  }
}
