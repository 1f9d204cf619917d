/**
 * Memories that a world imagined, for lessons of its own denoiser.
 *
 * From the second chunk on a world remembers its own pictures, which are a little wrong, and goes on from them; a denoiser that only ever
 * remembered recorded ones cannot know how to put that right, and errors add up (scheduled sampling, https://arxiv.org/abs/1506.03099, and
 * for imitation DAgger, https://arxiv.org/abs/1011.0686). So recorded episodes are imagined once, before training, by the world that goes on
 * learning; a share of lessons then remembers what was imagined, and is to say what was recorded after it.
 */
import { UserError } from "#registry";
import { cat, keep, scope, type Tensor } from "#tensor";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { drawWindowStart } from "../frames/window-starts.ts";
import type { LoopHooks } from "../learning/training-loop.ts";
import { type DreamtFrames, dreamtBy } from "./dreamt-frames.ts";

export interface ImaginedWindow {
  readonly number: number; // among all of them
  readonly first: number; // row of the episode's first frame, which is never imagined
  readonly start: number; // actions before the window: one chunk or more
}

interface ImaginedEpisode {
  readonly first: number; // row
  readonly length: number; // actions
  readonly before: number; // windows of the episodes before it
}

export class ImaginedMemory {
  readonly share: number; // of lessons
  readonly dreamt: DreamtFrames;
  readonly count: number; // of windows
  readonly #chunk: number;
  readonly #episodes: readonly ImaginedEpisode[];
  readonly #recorded: number;
  readonly #places: Int32Array; // by recorded row; -1: not imagined

  constructor(frames: RecordedFrames, dreamt: DreamtFrames, share: number) {
    const { chunk } = dreamt;
    this.share = share;
    this.dreamt = dreamt;
    this.#chunk = chunk;
    this.#recorded = frames.count;
    this.#places = new Int32Array(frames.count).fill(-1);
    for (const [place, row] of dreamt.rows.entries()) this.#places[row] = place;
    let before = 0;
    this.#episodes = frames.episodes
      .filter(({ first, length }) => length >= 2 * chunk && this.#places[first + 1] !== -1)
      .map(({ first, length }) => {
        const starts = length - 2 * chunk + 1;
        before += starts;
        return { first, length, before: before - starts };
      });
    this.count = before;
    if (before === 0)
      throw new UserError(
        `no imagined episode has ${2 * chunk} actions, so that a second chunk could remember the first: leave imagined_share at 0`,
      );
  }

  /** A window for a share of lessons, else nothing. `aligned` of them begin where imagined chunks do; `random` gives numbers in [0, 1). */
  draw(random: () => number, aligned: number): ImaginedWindow | undefined {
    if (random() >= this.share) return undefined;
    const episode = this.#episodes[Math.floor(random() * this.#episodes.length)]!;
    const chunk = this.#chunk;
    return this.#window(episode, chunk + drawWindowStart(episode.length - chunk, { chunk, aligned }, random));
  }

  /** Every window, by its number. */
  windows(): ImaginedWindow[] {
    return this.#episodes.flatMap((episode) =>
      Array.from({ length: episode.length - 2 * this.#chunk + 1 }, (_, i) =>
        this.#window(episode, this.#chunk + i),
      ),
    );
  }

  #window({ first, before }: ImaginedEpisode, start: number): ImaginedWindow {
    return { number: before + start - this.#chunk, first, start };
  }

  /** Of what was imagined instead of this row, in a table of all recorded rows with the imagined ones behind; first frames stay. */
  row(recorded: number): number {
    const place = this.#places[recorded]!;
    return place === -1 ? recorded : this.#recorded + place;
  }
}

export interface ImaginedMemorySettings {
  readonly imagined_share: number;
  readonly imagined_episodes: number;
  readonly imagined_steps: number;
  readonly init_from?: string | null | undefined;
  readonly seed: number;
}

/** What the world that goes on learning imagines of the recordings; nothing where no lesson asks for it. */
export async function imaginedMemory(
  frames: RecordedFrames,
  { imagined_share: share, imagined_episodes, imagined_steps, init_from, seed }: ImaginedMemorySettings,
  { say }: LoopHooks,
): Promise<ImaginedMemory | undefined> {
  if (share === 0) return undefined;
  if (!init_from)
    throw new UserError(
      `imagined_share is ${share}, and a new denoiser cannot imagine yet: train it first, then go on with init_from=WORLD`,
    );
  const dreamt = await dreamtBy(init_from, frames, {
    episodes: imagined_episodes,
    samplingSteps: imagined_steps,
    seed,
    remember: true,
    say,
  });
  return new ImaginedMemory(frames, dreamt, share);
}

/** Latents of recorded rows with those of imagined ones behind. */
export const withImagined = (latents: Tensor, imagined: ImaginedMemory | undefined): Tensor =>
  imagined
    ? keep(scope(() => cat([latents, imagined.dreamt.latents!.to({ dtype: latents.dtype })])))
    : latents;
