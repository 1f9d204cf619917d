/**
 * Draws the windows of a denoiser's lessons: what it remembers, the actions that follow, and the frames they lead to.
 *
 * Shapes: B windows, M memory frames, C new ones.
 */
import { UserError } from "#registry";
import { type Device, scope, type Tensor, tensor } from "#tensor";
import type { RecordedFrames, Span } from "../frames/recorded-frames.ts";
import { drawWindowStart, type WindowStarts } from "../frames/window-starts.ts";
import type { ImaginedMemory } from "./imagined-memory.ts";

export interface WindowRows {
  readonly memory: Tensor; // int64 [B, M]
  readonly fresh: Tensor; // int64 [B, C]
  readonly actions: Tensor; // int64 [B, C]
}

export interface WindowShape {
  readonly memory: number; // frames
  readonly chunk: number;
  readonly aligned?: number; // share of windows that begin where imagined chunks do
  /** Which frames a window remembers after so many actions, counted from the episode's first; the last ones by default. */
  readonly recall?: (elapsed: number) => readonly number[];
  /** Memories for a share of windows; their rows count on from the recorded ones. */
  readonly imagined?: ImaginedMemory | undefined;
}

/** Random windows of memory, actions and the frames they lead to. */
export class WindowSampler {
  readonly #episodes: readonly Span[];
  readonly #device: Device;
  readonly #starts: WindowStarts;
  readonly #recall: (elapsed: number) => readonly number[];
  readonly #imagined: ImaginedMemory | undefined;

  constructor(
    { episodes, device }: RecordedFrames,
    { memory, chunk, aligned = 0, recall, imagined }: WindowShape,
  ) {
    this.#episodes = episodes.filter(({ length }) => length >= chunk);
    if (this.#episodes.length === 0) throw new UserError(`no recorded episode has ${chunk} actions`);
    this.#device = device;
    this.#starts = { chunk, aligned };
    this.#imagined = imagined;
    this.#recall = recall ?? ((elapsed) => range(memory, (m) => Math.max(0, elapsed - memory + 1 + m)));
  }

  /** `random` gives numbers in [0, 1). All indices travel to the device as one tensor. */
  draw(count: number, random: () => number): WindowRows {
    const [memory, chunk] = [this.#recall(0).length, this.#starts.chunk];
    const rows = new Int32Array(count * (memory + 2 * chunk));
    const [fresh, actions] = [count * memory, count * (memory + chunk)]; // where they begin
    for (let i = 0; i < count; i++) {
      const imagined = this.#imagined?.draw(random, this.#starts.aligned);
      const { first, start } = imagined ?? this.#recorded(random);
      const now = first + start;
      for (const [m, frame] of this.#recall(start).entries())
        rows[i * memory + m] = imagined ? this.#imagined!.row(first + frame) : first + frame;
      for (let c = 0; c < chunk; c++) {
        rows[fresh + i * chunk + c] = now + 1 + c;
        rows[actions + i * chunk + c] = now + c;
      }
    }
    return scope(() => {
      const all = tensor(rows).to({ device: this.#device }).long();
      const part = (from: number, width: number): Tensor =>
        all.narrow(0, from, count * width).view([count, width]);
      return { memory: part(0, memory), fresh: part(fresh, chunk), actions: part(actions, chunk) };
    });
  }

  #recorded(random: () => number): { first: number; start: number } {
    const { first, length } = this.#episodes[Math.floor(random() * this.#episodes.length)]!;
    return { first, start: drawWindowStart(length, this.#starts, random) };
  }
}

const range = (count: number, value: (i: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => value(i));
