/** One line that says how far a collection is: redrawn on a terminal, repeated now and then elsewhere. */
export interface CollectProgress {
  readonly done: number;
  readonly total: number;
  readonly successes: number;
}

const barWidth = 28;

export class ProgressLine {
  readonly #title: string;
  readonly #started = performance.now();
  readonly #terminal = process.stderr.isTTY === true;
  #shown = Number.NEGATIVE_INFINITY;
  #last: CollectProgress = { done: 0, total: 0, successes: 0 };

  constructor(title: string) {
    this.#title = title;
  }

  show(progress: CollectProgress): void {
    this.#last = { ...progress };
    const now = performance.now();
    const pause = this.#terminal ? 100 : 10_000; // milliseconds
    if (now - this.#shown < pause) return;
    this.#shown = now;
    this.#draw();
  }

  end(): void {
    this.#draw();
    if (this.#terminal) process.stderr.write("\n");
  }

  #draw(): void {
    const text = progressText(this.#last, (performance.now() - this.#started) / 1000);
    process.stderr.write(this.#terminal ? `\r${this.#title} ${text}\u001b[K` : `${this.#title} ${text}\n`);
  }
}

/** @param seconds since the start. */
export function progressText({ done, total, successes }: CollectProgress, seconds: number): string {
  const filled = total > 0 ? Math.round((barWidth * done) / total) : 0;
  const bar = "#".repeat(filled) + "-".repeat(barWidth - filled);
  const rate = seconds > 0 ? done / seconds : 0;
  const left = rate > 0 ? `, ${Math.ceil((total - done) / rate)} s left` : "";
  const share = done > 0 ? ` ${((100 * successes) / done).toFixed(1)} % succeeded,` : "";
  return `[${bar}] ${done}/${total}${share} ${rate.toFixed(1)} episodes/s${left}`;
}
