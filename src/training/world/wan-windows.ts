/**
 * Windows as a Wan world sees them: an episode's first picture, the last four, and the next eight, with their actions.
 *
 * The action of a picture is the one that led to it; before the first, the hand rests open.
 */
import { UserError } from "#registry";
import { cat, type Device, scope, type Tensor, tensor } from "#tensor";
import type { RecordedFrames } from "./recorded-frames.ts";

const lastPictures = 4;

export class WanWindows {
  readonly #frames: RecordedFrames;
  readonly #episodes: RecordedFrames["episodes"];
  readonly #chunk: number;

  constructor(frames: RecordedFrames, chunk: number) {
    this.#frames = frames;
    this.#chunk = chunk;
    this.#episodes = frames.episodes.filter(({ length }) => length >= chunk);
    if (this.#episodes.length === 0) throw new UserError(`no recorded episode has ${chunk} actions`);
  }

  /** `video` [B, 3, T, H, W] in [-1, 1] and `actions` [B, T, A]. `random` gives numbers in [0, 1). */
  draw(count: number, random: () => number): { video: Tensor; actions: Tensor } {
    const windows = Array.from({ length: count }, () => {
      const { first, length } = this.#episodes[Math.floor(random() * this.#episodes.length)]!;
      return this.#rows(first, first + Math.floor(random() * (length - this.#chunk + 1)));
    });
    return scope(() => ({ video: this.#video(windows), actions: this.#actions(windows) }));
  }

  /** Rows of the pictures, and of the actions that led to them; -1 where none did. */
  #rows(first: number, now: number): { pictures: number[]; actions: number[] } {
    const past = Array.from({ length: lastPictures }, (_, i) => Math.max(first, now - lastPictures + 1 + i));
    const next = Array.from({ length: this.#chunk }, (_, i) => now + 1 + i);
    const pictures = [first, ...past, ...next];
    return {
      pictures,
      actions: pictures.map((row, i) => (i === 0 || row === first ? -1 : row - 1)),
    };
  }

  #video(windows: readonly { pictures: number[] }[]): Tensor {
    const rows = index(
      windows.flatMap(({ pictures }) => pictures),
      this.#frames.device,
    );
    return this.#frames.pick(rows).unflatten(0, [windows.length, -1]).transpose(1, 2);
  }

  #actions(windows: readonly { actions: number[] }[]): Tensor {
    const { actions, device } = this.#frames;
    const width = actions.shape[1]!;
    const rest = tensor([...Array<number>(width - 1).fill(0), -1], { device }).view([1, width]);
    const rows = windows.flatMap((window) => window.actions.map((row) => row + 1)); // row 0 is rest
    return cat([rest, actions], 0).indexSelect(0, index(rows, device)).unflatten(0, [windows.length, -1]);
  }
}

const index = (rows: readonly number[], device: Device): Tensor =>
  tensor(BigInt64Array.from(rows, BigInt), { device });
