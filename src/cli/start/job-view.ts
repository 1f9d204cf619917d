/**
 * The main job on the screen: which part, how far, how long still, how well.
 *
 * On a terminal a few lines are redrawn in place; elsewhere every training step is one plain line, and what takes long says now
 * and then that it lives.
 */
import {
  formatDuration,
  LiveBlock,
  leftText,
  type Metrics,
  phaseName,
  progressBar,
  type Screen,
} from "#metrics";
import type { EngineWatcher } from "#training";
import type { JobClock, JobPart } from "./job-clock.ts";

const partNames: Readonly<Record<JobPart, string>> = {
  before: "1 of 3: the base policy plays every start",
  training: "2 of 3: learning in the simulator",
  after: "3 of 3: the trained policy plays the same starts",
  report: "film and picture",
};
const phaseNames: Readonly<Record<string, string>> = {
  sync_weights: "handing over weights",
  generate_rollouts: "playing episodes, decisions",
  cal_adv_and_returns: "judging",
  actor_training: "learning, updates",
  eval: "playing episodes",
  save_checkpoint: "saving a checkpoint",
  report: "filming both policies",
};
const betweenSignsOfLife = 20_000; // ms

export class JobView implements EngineWatcher {
  readonly #isTTY: boolean;
  readonly #block: LiveBlock;
  readonly #clock: JobClock;
  readonly #now: () => number;
  #part: JobPart = "before";
  #done = 0;
  #total = 0;
  #phase = "";
  #amount = ""; // of the phase that is done, as words
  #phaseStarted = 0;
  #success: number | undefined;
  #base: number | undefined;

  constructor(screen: Screen, clock: JobClock, now: () => number = () => performance.now()) {
    this.#isTTY = screen.isTTY === true;
    this.#clock = clock;
    this.#now = now;
    this.#block = new LiveBlock(screen, {
      lines: () => this.#blockLines(),
      lifeSign: () => `  ${this.#nowText()}, ${this.#times()}`,
      betweenSignsOfLife,
      now,
    });
  }

  begin(part: JobPart): void {
    this.#part = part;
    this.#done = 0;
    this.#total = 0;
    this.#block.clear();
    this.say(partNames[part]);
    if (part === "report") this.doing(part);
  }

  /** The base policy's success, to compare with. */
  measured(base: number): void {
    this.#base = base;
  }

  opened(step: number, totalSteps: number): void {
    this.#done = step;
    this.#total = totalSteps;
  }

  doing(phase: string, done?: number, total?: number): void {
    const changed = phase !== this.#phase;
    if (changed) this.#phaseStarted = this.#now();
    this.#phase = phase;
    this.#amount = total === undefined ? "" : ` ${done}/${total}`;
    if (this.#part !== "training" && done !== undefined && total !== undefined)
      [this.#done, this.#total] = [done, total];
    if (changed) this.#block.changed();
    else this.#block.progressed();
  }

  told(step: number, metrics: Metrics): void {
    this.#done = step + 1;
    this.#success = metrics["env/success_once"];
    if (this.#isTTY) this.#block.changed();
    else this.say(`  step ${this.#done}/${this.#total}  ${this.#successText()}  ${this.#times()}`);
  }

  /** A line that stays. */
  say(line: string): void {
    this.#block.say(line);
  }

  close(): void {
    this.#block.clear();
    this.#block.close();
  }

  #successText(): string {
    if (this.#success === undefined) return "";
    const base = this.#base === undefined ? "" : ` (base policy ${percent(this.#base)})`;
    return `success in training ${percent(this.#success)}${base}`;
  }

  #nowText(): string {
    const took = formatDuration((this.#now() - this.#phaseStarted) / 1000);
    return `${phaseNames[this.#phase] ?? phaseName(this.#phase)}${this.#amount}, ${took}`;
  }

  #times(): string {
    const { seconds, atMost } = this.#clock.left();
    const left = this.#clock.isOver
      ? this.#overText(seconds)
      : leftText(seconds, atMost ? "at most " : "about ");
    return `${formatDuration(this.#clock.elapsed())} gone, ${left}`;
  }

  /** The time is up, but what was measured before is worth nothing without the same measurement after. */
  #overText(seconds: number): string {
    const rest = Number.isFinite(seconds) && seconds >= 1 ? `; about ${formatDuration(seconds)} more` : "";
    return `--minutes is over${rest}`;
  }

  #blockLines(): string[] {
    const fraction = this.#total > 0 ? this.#done / this.#total : 0;
    const unit = this.#part === "training" ? "step" : "episode";
    const count = this.#total > 0 ? `${unit} ${this.#done}/${this.#total}  ` : "";
    return [
      `${progressBar(fraction, 30)}  ${count}${this.#times()}`,
      this.#part === "training" ? this.#successText() : "",
      `now: ${this.#nowText()}`,
    ];
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
