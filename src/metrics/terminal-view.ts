/**
 * The run on one screen: how far, how long still, how well, where the time goes, and what is happening now.
 *
 * On a terminal a block of four lines is redrawn in place (live-block.ts); elsewhere (a log file, CI) each step is one plain
 * line, and a phase that takes long says every half minute that it lives.
 */
import { formatDuration, leftText } from "./duration.ts";
import { LiveBlock, type Screen } from "./live-block.ts";
import type { Metrics, MetricsWriter } from "./metric.ts";
import { headlineText, phaseName, progressBar, timeText } from "./terminal-lines.ts";
import { TimeLeft } from "./time-left.ts";

export interface TerminalViewOptions {
  readonly title: string;
  /** 0: there are no steps, only one phase such as an evaluation. Absent: not known before `opened`. */
  readonly totalSteps?: number | undefined;
  readonly screen?: Screen;
  readonly now?: () => number; // ms
}

const betweenSignsOfLife = 30_000; // ms

export class TerminalView implements MetricsWriter {
  readonly #title: string;
  readonly #isTTY: boolean;
  readonly #block: LiveBlock;
  readonly #now: () => number;
  readonly #started: number;
  #total: number | undefined;
  #timeLeft: TimeLeft;
  #done = 0;
  #stepStarted: number;
  #last: Metrics = {};
  #lastEval: { readonly step: number; readonly success: number } | undefined;
  #phase = "";
  #amount = ""; // of the phase that is done, as words
  #phaseStarted = 0;
  #phaseShare = 0; // of the phase that is done

  constructor({
    title,
    totalSteps,
    screen = process.stderr,
    now = () => performance.now(),
  }: TerminalViewOptions) {
    this.#title = title;
    this.#isTTY = screen.isTTY === true;
    this.#now = now;
    this.#total = totalSteps;
    this.#timeLeft = new TimeLeft(totalSteps ?? 0);
    this.#started = now();
    this.#stepStarted = this.#started;
    this.#block = new LiveBlock(screen, {
      lines: () => this.#blockLines(),
      lifeSign: () => this.#lifeSign(),
      betweenSignsOfLife,
      now,
    });
  }

  /** The steps that a resumed run has behind it, and all of the run. */
  opened(doneSteps: number, totalSteps: number): void {
    this.#done = doneSteps;
    this.#total = totalSteps;
    this.#timeLeft = new TimeLeft(totalSteps, doneSteps);
    this.#stepStarted = this.#now();
  }

  /** What is being done now, as a timer's name ("generate_rollouts"), and how much of it is done. */
  doing(phase: string, done?: number, total?: number): void {
    const changed = phase !== this.#phase;
    if (changed) this.#phaseStarted = this.#now();
    this.#phase = phase;
    this.#amount = total === undefined ? "" : ` ${done}/${total}`;
    this.#phaseShare = total === undefined || total === 0 ? 0 : (done ?? 0) / total;
    if (changed) this.#block.changed();
    else this.#block.progressed();
  }

  write(step: number, metrics: Metrics): void {
    this.#last = metrics;
    this.#done = step + 1;
    this.#stepStarted = this.#now();
    const success = metrics["eval/success_once"];
    if (success !== undefined) this.#lastEval = { step: this.#done, success };
    const seconds = metrics["time/step"];
    if (seconds !== undefined) this.#timeLeft.stepTook(seconds);
    if (this.#isTTY) this.#block.changed();
    else this.#block.say(this.#plainLine());
  }

  /** A line that stays, above the block. */
  say(text: string): void {
    this.#block.say(text);
  }

  async close(): Promise<void> {
    this.#phase = "";
    this.#block.close();
  }

  #lifeSign(): string | undefined {
    if (this.#phase === "") return undefined;
    const now = `${this.#phaseText()}, ${formatDuration(this.#elapsed(this.#phaseStarted))}`;
    if (this.#total === undefined) return `  ${now}`;
    return this.#total > 0
      ? `  step ${this.#done + 1}: ${now}`
      : `  ${now}, ${leftText(this.#phaseSecondsLeft())}`;
  }

  #phaseText(): string {
    return `${phaseName(this.#phase)}${this.#amount}`;
  }

  /** NaN before anything is done. */
  #phaseSecondsLeft(): number {
    return (this.#elapsed(this.#phaseStarted) * (1 - this.#phaseShare)) / this.#phaseShare;
  }

  #plainLine(): string {
    const total = this.#total ?? 0;
    const left = this.#done < total ? leftText(this.#timeLeft.seconds()) : "done";
    return [`step ${this.#done}/${total}`, headlineText(this.#last), timeText(this.#last), left]
      .filter(Boolean)
      .join("  ");
  }

  #blockLines(): string[] {
    const evaluated = this.#lastEval
      ? `  eval ${(this.#lastEval.success * 100).toFixed(1)} % (step ${this.#lastEval.step})`
      : "";
    const { "eval/success_once": _shownApart, ...withoutEval } = this.#last;
    return [
      this.#headLine(),
      `${headlineText(withoutEval)}${evaluated}`,
      timeText(this.#last),
      this.#phase && `now: ${this.#phaseText()}, ${formatDuration(this.#elapsed(this.#phaseStarted))}`,
    ];
  }

  #headLine(): string {
    const total = this.#total;
    const elapsed = `elapsed ${formatDuration(this.#elapsed(this.#started))}`;
    if (total === undefined) return `${this.#title}  ${elapsed}`;
    const fraction = total > 0 ? this.#done / total : this.#phaseShare;
    const bar = `${progressBar(fraction, 24)} ${Math.floor(fraction * 100)} %`;
    const steps = total > 0 ? `step ${this.#done}/${total}  ` : "";
    return `${this.#title}  ${steps}${bar}  ${elapsed}  ${this.#leftText(fraction, total)}`;
  }

  #leftText(fraction: number, total: number): string {
    if (fraction >= 1) return "done";
    const inStep = this.#elapsed(this.#stepStarted);
    return leftText(total > 0 ? this.#timeLeft.seconds(inStep) : this.#phaseSecondsLeft());
  }

  #elapsed(since: number): number {
    return (this.#now() - since) / 1000;
  }
}
