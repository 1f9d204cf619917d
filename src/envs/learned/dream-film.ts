/**
 * Films dreams: tells films what an imagined env shows, in the order in which it happened.
 *
 * Imagination runs in one go and writing a film takes time, so what there is to tell waits in a queue that the env empties between chunks.
 */

import type { Film } from "#pictures";
import type { Tensor } from "#tensor";
import { toBytes } from "#worlds";
import type { PlayedChunk, Slot } from "./slots.ts";

export class DreamFilm {
  readonly #films: readonly Film[];
  #telling: Promise<unknown> = Promise.resolve();

  constructor(films: readonly Film[]) {
    this.#films = films;
  }

  began(slot: number, { picture, instruction, startId }: Slot): void {
    const main = Uint8Array.from(picture.cpu().data() as Uint8Array);
    this.#tell((film) => film.began({ slot, start: startId }, instruction, { main }));
  }

  /** The frames of one slot, float [C, 3, H, W], after its account was brought up to date. */
  played(slot: number, frames_C3HW: Tensor, { rewards, holds }: PlayedChunk, record: Slot): void {
    const pictures = toBytes(frames_C3HW).permute([0, 2, 3, 1]).cpu().contiguous().unbind(0);
    const film = pictures.map((picture) => Uint8Array.from(picture.contiguous().data() as Uint8Array));
    const last = rewards.length - 1;
    const chunk = {
      slot,
      sight: { main: film[last]!, film, success: Uint8Array.from(holds, Number) },
      outcomes: rewards.map((reward, i) => ({
        reward,
        terminated: i === last && record.over === "terminated",
      })),
      account: { elapsed: record.elapsed, successOnce: record.successOnce },
    };
    this.#tell((film) => film.played(chunk));
  }

  /** Resolves when everything up to now is on film. */
  settled(): Promise<void> {
    return this.#told((film) => film.settled?.());
  }

  chunkEnded(): Promise<void> {
    return this.#told((film) => film.chunkEnded?.());
  }

  rolloutEnded(): void {
    this.#tell((film) => film.rolloutEnded?.());
  }

  closed(): Promise<void> {
    return this.#told((film) => film.closed());
  }

  async #told(what: (film: Film) => void | Promise<void>): Promise<void> {
    this.#tell(what);
    await this.#telling;
  }

  #tell(what: (film: Film) => void | Promise<void>): void {
    this.#telling = this.#telling.then(async () => {
      for (const film of this.#films) await what(film);
    });
    this.#telling.catch(() => {}); // comes to light where the env waits
  }
}
