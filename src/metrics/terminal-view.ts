/**
 * The run on one screen: how far, how long still, how well, where the time goes, and what is happening now.
 *
 * On a terminal a block of four lines is redrawn in place; elsewhere (a log file, CI) each step is one plain
 * line, and a phase that takes long says every half minute that it lives. Times come from the caller's clock,
 * so tests need not wait.
 */
import { formatDuration } from "./duration.ts";
import type { Metrics, MetricsWriter } from "./metric.ts";
import { headlineText, phaseName, progressBar, timeText } from "./terminal-lines.ts";
import { TimeLeft } from "./time-left.ts";

/** As much of a terminal as is needed; process.stderr is one. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface TerminalViewOptions {
  readonly title: string;
  /** 0: there are no steps, only one phase such as an evaluation. */
  readonly totalSteps: number;
  /** Steps that a resumed run has behind it. */
  readonly doneSteps?: number;
  readonly screen?: Screen;
  readonly now?: () => number; // ms
}

const betweenRedraws = 100; // ms
const betweenSignsOfLife = 30_000; // ms

export class TerminalView implements MetricsWriter {
  readonly #options: TerminalViewOptions;
  readonly #screen: Screen;
  readonly #now: () => number;
  readonly #timeLeft: TimeLeft;
  readonly #started: number;
  #done: number;
  #last: Metrics = {};
  #lastEval: { readonly step: number; readonly success: number } | undefined;
  #phase = "";
  #phaseStarted = 0;
  #phaseShare = 0; // of the phase that is done
  #spoke = 0;
  #drawnLines = 0;

  constructor(options: TerminalViewOptions) {
    this.#options = options;
    this.#screen = options.screen ?? process.stderr;
    this.#now = options.now ?? (() => performance.now());
    this.#done = options.doneSteps ?? 0;
    this.#timeLeft = new TimeLeft(options.totalSteps, this.#done);
    this.#started = this.#now();
    this.#spoke = this.#started;
  }

  /** What is being done now, as a timer's name ("generate_rollouts"), and how much of it is done. */
  doing(phase: string, done?: number, total?: number): void {
    const amount = total === undefined ? "" : ` ${done}/${total}`;
    if (!this.#phase.startsWith(phaseName(phase))) this.#phaseStarted = this.#now();
    this.#phase = `${phaseName(phase)}${amount}`;
    this.#phaseShare = total === undefined || total === 0 ? 0 : (done ?? 0) / total;
    const wait = this.#screen.isTTY ? betweenRedraws : betweenSignsOfLife;
    if (this.#now() - this.#spoke < wait) return;
    if (this.#screen.isTTY) this.#draw();
    else this.#say(this.#lifeSign());
  }

  write(step: number, metrics: Metrics): void {
    this.#last = metrics;
    this.#done = step + 1;
    const success = metrics["eval/success_once"];
    if (success !== undefined) this.#lastEval = { step: this.#done, success };
    const seconds = metrics["time/step"];
    if (seconds !== undefined) this.#timeLeft.stepTook(seconds);
    if (this.#screen.isTTY) this.#draw();
    else this.#say(this.#plainLine());
  }

  /** A line that stays, above the block. */
  say(text: string): void {
    this.#erase();
    this.#say(text);
    if (this.#screen.isTTY) this.#draw();
  }

  async close(): Promise<void> {
    if (this.#screen.isTTY && this.#drawnLines > 0) {
      this.#phase = "";
      this.#draw();
    }
    this.#drawnLines = 0;
  }

  #lifeSign(): string {
    const took = formatDuration(this.#elapsed(this.#phaseStarted));
    if (this.#options.totalSteps > 0) return `  step ${this.#done + 1}: ${this.#phase}, ${took}`;
    return `  ${this.#phase}, ${took}, left ${formatDuration(this.#phaseSecondsLeft())}`;
  }

  /** NaN before anything is done. */
  #phaseSecondsLeft(): number {
    return (this.#elapsed(this.#phaseStarted) * (1 - this.#phaseShare)) / this.#phaseShare;
  }

  #plainLine(): string {
    const { totalSteps } = this.#options;
    const left = this.#done < totalSteps ? `left ${formatDuration(this.#timeLeft.seconds())}` : "done";
    return [`step ${this.#done}/${totalSteps}`, headlineText(this.#last), timeText(this.#last), left]
      .filter(Boolean)
      .join("  ");
  }

  #blockLines(): string[] {
    const { title, totalSteps } = this.#options;
    const hasSteps = totalSteps > 0;
    const fraction = hasSteps ? this.#done / totalSteps : this.#phaseShare;
    const bar = `${progressBar(fraction, 24)} ${Math.floor(fraction * 100)} %`;
    const elapsed = `elapsed ${formatDuration(this.#elapsed(this.#started))}`;
    const left = `left ${formatDuration(hasSteps ? this.#timeLeft.seconds() : this.#phaseSecondsLeft())}`;
    const evaluated = this.#lastEval
      ? `  eval ${(this.#lastEval.success * 100).toFixed(1)} % (step ${this.#lastEval.step})`
      : "";
    const { "eval/success_once": _shownApart, ...withoutEval } = this.#last;
    return [
      `${title}  ${hasSteps ? `step ${this.#done}/${totalSteps}  ` : ""}${bar}  ${elapsed}  ${left}`,
      `${headlineText(withoutEval)}${evaluated}`,
      timeText(this.#last),
      this.#phase && `now: ${this.#phase}, ${formatDuration(this.#elapsed(this.#phaseStarted))}`,
    ];
  }

  #draw(): void {
    this.#erase();
    const width = (this.#screen.columns ?? 100) - 1;
    const lines = this.#blockLines().filter(Boolean);
    this.#screen.write(lines.map((line) => `${line.slice(0, width)}\n`).join(""));
    this.#drawnLines = lines.length;
    this.#spoke = this.#now();
  }

  /** Moves up over the block and clears to the end of the screen. */
  #erase(): void {
    if (this.#drawnLines > 0) this.#screen.write(`\x1b[${this.#drawnLines}A\x1b[J`);
    this.#drawnLines = 0;
  }

  #say(text: string): void {
    this.#screen.write(`${text}\n`);
    this.#spoke = this.#now();
  }

  #elapsed(since: number): number {
    return (this.#now() - since) / 1000;
  }
}
