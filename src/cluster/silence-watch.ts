/**
 * Notices when somebody who should be at work has not given a sign of life for too long.
 *
 * Counts ticks of its own timer and not the clock, so that a watcher which was itself held up, and then finds the signs of the meantime
 * waiting to be read, raises no alarm.
 */
const ticks = 8;

export class SilenceWatch {
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;
  #silent = 0;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
  }

  /** Begins to watch, or goes on with another patience, in seconds. The timer keeps no process alive. */
  begin(patience: number): void {
    this.end();
    this.#timer = setInterval(() => this.#tick(), (1000 * patience) / ticks).unref();
  }

  /** A sign of life. */
  sign(): void {
    this.#silent = 0;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#silent = 0;
  }

  #tick(): void {
    if (++this.#silent < ticks) return;
    this.end();
    this.#onSilence();
  }
}

/** Milliseconds between two signs of a thread that is well. */
const beat = 1000;

/** A thread's signs of life, as long as its event loop turns. Keeps no thread alive. */
export function beatHeart(send: () => void): void {
  setInterval(send, beat).unref();
}
