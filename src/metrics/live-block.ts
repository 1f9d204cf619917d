/**
 * A few lines at the bottom of a terminal that are redrawn in place, below lines that stay.
 *
 * They are drawn anew when something else begins, and twice a second whether or not anything happens: a step that takes minutes must not
 * look like a hang. Progress within one activity is drawn at most ten times a second. Where there is no terminal (a log file, CI) nothing is
 * drawn; a line now and then says that the run lives. Times come from the caller's clock, so that tests need not wait.
 */

/** As much of a terminal as is needed; process.stderr is one. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface LiveBlockOptions {
  /** What the block shows now; empty lines are left out. */
  readonly lines: () => readonly string[];
  /** The line that says, away from a terminal, that the run lives; undefined: there is nothing to say yet. */
  readonly lifeSign: () => string | undefined;
  readonly betweenSignsOfLife: number; // ms
  readonly now: () => number; // ms
}

const betweenDraws = 100; // ms
const tick = 500; // ms

export class LiveBlock {
  readonly #screen: Screen;
  readonly #options: LiveBlockOptions;
  readonly #timer: NodeJS.Timeout;
  #spoke: number;
  #drawnLines = 0;

  constructor(screen: Screen, options: LiveBlockOptions) {
    this.#screen = screen;
    this.#options = options;
    this.#spoke = options.now();
    this.#timer = setInterval(() => this.#tick(), tick);
    this.#timer.unref();
  }

  /** Something else began or ended: drawn at once. Away from a terminal this is not worth a line. */
  changed(): void {
    if (this.#screen.isTTY) this.#draw();
    else this.#liveOn();
  }

  /** The same activity is further: drawn unless it just was. */
  progressed(): void {
    const { now } = this.#options;
    if (!this.#screen.isTTY) this.#liveOn();
    else if (now() - this.#spoke >= betweenDraws) this.#draw();
  }

  /** A line that stays, above the block. */
  say(text: string): void {
    if (this.#drawnLines > 0) this.#draw(`${text}\n`);
    else this.#write(`${text}\n`);
  }

  /** Takes the block away, until it is drawn again. */
  clear(): void {
    if (this.#drawnLines > 0) this.#write(this.#erasure());
    this.#drawnLines = 0;
  }

  /** Leaves the block as it stands, for good. */
  close(): void {
    clearInterval(this.#timer);
    if (this.#drawnLines > 0) this.#draw();
    this.#drawnLines = 0;
  }

  #tick(): void {
    if (!this.#screen.isTTY) this.#liveOn();
    else if (this.#drawnLines > 0) this.#draw();
  }

  #liveOn(): void {
    const { now, betweenSignsOfLife, lifeSign } = this.#options;
    if (now() - this.#spoke < betweenSignsOfLife) return;
    const line = lifeSign();
    if (line !== undefined) this.#write(`${line}\n`);
  }

  /** In one write: a block that is erased first and drawn later flickers. */
  #draw(above = ""): void {
    const width = (this.#screen.columns ?? 100) - 1;
    const lines = this.#options.lines().filter(Boolean);
    const block = lines.map((line) => `${line.slice(0, width)}\n`).join("");
    this.#write(`${this.#erasure()}${above}${block}`);
    this.#drawnLines = lines.length;
  }

  /** Back to the first column (a terminal echoes "^C" below the block), up over it, and clear to the end of the screen. */
  #erasure(): string {
    return this.#drawnLines > 0 ? `\r\x1b[${this.#drawnLines}A\x1b[J` : "";
  }

  #write(text: string): void {
    this.#screen.write(text);
    this.#spoke = this.#options.now();
  }
}
