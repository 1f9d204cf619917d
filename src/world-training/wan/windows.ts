/**
 * Windows as a Wan world sees them: an episode's first picture, the last four, and the next eight, with their actions.
 *
 * The action of a picture is the one that led to it; before the first, the hand rests open. The last four may be ones that the world
 * imagined (`imagined-memory.ts`).
 */
import { UserError } from "#registry";
import { cat, keep, scope, type Tensor, tensor } from "#tensor";
import { asPictures, type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { drawWindowStart } from "../frames/window-starts.ts";
import type { ImaginedMemory, ImaginedWindow } from "../imagined/imagined-memory.ts";

/** Pictures of a window besides the episode's first: remembered, and new. */
export const [lastPictures, newPictures] = [4, 8];

/** Rows of the pictures, imagined ones counted on from the recorded ones, and of the actions that led to them; -1 where none did. */
export interface WanWindow {
  readonly number: number; // among all windows of the recordings
  readonly pictures: readonly number[];
  readonly actions: readonly number[];
}

interface WindowedEpisode {
  readonly first: number; // row of the first picture
  readonly length: number; // actions
  readonly before: number; // windows of the episodes before it
}

export class WanWindows {
  readonly count: number;
  readonly #frames: RecordedFrames;
  readonly #episodes: readonly WindowedEpisode[];
  readonly #chunk: number;
  readonly #aligned: number;
  readonly #recorded: number; // windows whose memory was recorded
  readonly #imagined: ImaginedMemory | undefined;
  readonly #pictures: Tensor; // uint8 [F, H, W, 3]
  readonly #actions: Tensor; // [1 + F, A]: rest, then that of each row

  /** `aligned`: the share of drawn windows that begin where imagined chunks do. */
  constructor(frames: RecordedFrames, chunk: number, aligned = 0, imagined?: ImaginedMemory) {
    this.#frames = frames;
    this.#aligned = aligned;
    this.#chunk = chunk;
    let before = 0;
    this.#episodes = frames.episodes
      .filter(({ length }) => length >= chunk)
      .map(({ first, length }) => {
        const starts = length - chunk + 1;
        before += starts;
        return { first, length, before: before - starts };
      });
    if (this.#episodes.length === 0) throw new UserError(`no recorded episode has ${chunk} actions`);
    this.#recorded = before;
    this.#imagined = imagined;
    this.count = before + (imagined?.count ?? 0);
    this.#pictures = imagined ? keep(cat([frames.pictures, imagined.dreamt.pictures])) : frames.pictures;
    this.#actions = keep(scope(() => cat([restBeside(frames.actions), frames.actions])));
  }

  /** Any episode, then any of its windows. `random` gives numbers in [0, 1). */
  choose(count: number, random: () => number): WanWindow[] {
    return Array.from({ length: count }, () => {
      const imagined = this.#imagined?.draw(random, this.#aligned);
      if (imagined) return this.#withMemory(imagined);
      const episode = this.#episodes[Math.floor(random() * this.#episodes.length)]!;
      const starts = { chunk: this.#chunk, aligned: this.#aligned };
      return this.#window(episode, drawWindowStart(episode.length, starts, random));
    });
  }

  /** Every window, by its number. */
  all(): WanWindow[] {
    const recorded = this.#episodes.flatMap((episode) =>
      Array.from({ length: episode.length - this.#chunk + 1 }, (_, start) => this.#window(episode, start)),
    );
    return [...recorded, ...(this.#imagined?.windows() ?? []).map((window) => this.#withMemory(window))];
  }

  /** Of windows that are drawn: an autoencoder asks for no actions. */
  drawVideo(count: number, random: () => number): Tensor {
    return this.video(this.choose(count, random));
  }

  #withMemory({ number, first, start }: ImaginedWindow): WanWindow {
    const { pictures, actions } = this.#window({ first, before: 0 }, start);
    const seen = pictures.map((row, i) => (i <= lastPictures ? this.#imagined!.row(row) : row));
    return { number: this.#recorded + number, pictures: seen, actions };
  }

  #window({ first, before }: Pick<WindowedEpisode, "first" | "before">, start: number): WanWindow {
    const now = first + start;
    const past = Array.from({ length: lastPictures }, (_, i) => Math.max(first, now - lastPictures + 1 + i));
    const next = Array.from({ length: this.#chunk }, (_, i) => now + 1 + i);
    const pictures = [first, ...past, ...next];
    return {
      number: before + start,
      pictures,
      actions: pictures.map((row, i) => (i === 0 || row === first ? -1 : row - 1)),
    };
  }

  /** [B, 3, T, H, W] in [-1, 1]. */
  video(windows: readonly WanWindow[]): Tensor {
    const rows = windows.flatMap(({ pictures }) => pictures);
    return scope(() =>
      asPictures(this.#pictures, rowIndex(rows, this.#frames))
        .unflatten(0, [windows.length, -1])
        .transpose(1, 2),
    );
  }

  /** [B, T, A]. */
  actions(windows: readonly WanWindow[]): Tensor {
    const rows = windows.flatMap((window) => window.actions.map((row) => row + 1)); // row 0 is rest
    return scope(() =>
      this.#actions.indexSelect(0, rowIndex(rows, this.#frames)).unflatten(0, [windows.length, -1]),
    );
  }
}

/** The hand rests open: [1, A]. */
function restBeside({ shape, device }: Tensor): Tensor {
  const width = shape[1]!;
  return tensor([...Array<number>(width - 1).fill(0), -1], { device }).view([1, width]);
}
