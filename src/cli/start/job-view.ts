/**
 * The main job on the screen: which part, how far, how long still, how well.
 *
 * On a terminal a few lines are redrawn in place; elsewhere every training step is one plain line, and what takes long says now
 * and then that it lives.
 */
import { formatDuration, type Metrics, progressBar, type Screen } from "#metrics";
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
  eval: "episodes",
  save_checkpoint: "saving a checkpoint",
};
const betweenRedraws = 100; // ms
const betweenSignsOfLife = 20_000; // ms

export class JobView implements EngineWatcher {
  readonly #screen: Screen;
  readonly #clock: JobClock;
  readonly #now: () => number;
  #part: JobPart = "before";
  #done = 0;
  #total = 0;
  #activity = "";
  #success: number | undefined;
  #base: number | undefined;
  #spoke = Number.NEGATIVE_INFINITY;
  #drawn = 0;

  constructor(screen: Screen, clock: JobClock, now: () => number = () => performance.now()) {
    this.#screen = screen;
    this.#clock = clock;
    this.#now = now;
  }

  begin(part: JobPart): void {
    this.#part = part;
    this.#done = 0;
    this.#total = 0;
    this.#activity = "";
    this.say(partNames[part]);
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
    const amount = total === undefined ? "" : ` ${done}/${total}`;
    this.#activity = `${phaseNames[phase] ?? phase.replaceAll("_", " ")}${amount}`;
    if (this.#part !== "training" && done !== undefined && total !== undefined)
      [this.#done, this.#total] = [done, total];
    const wait = this.#screen.isTTY ? betweenRedraws : betweenSignsOfLife;
    if (this.#now() - this.#spoke < wait) return;
    if (this.#screen.isTTY) this.#draw();
    else this.#write(`  ${this.#activity}, ${this.#times()}`);
  }

  told(step: number, metrics: Metrics): void {
    this.#done = step + 1;
    this.#success = metrics["env/success_once"];
    if (this.#screen.isTTY) this.#draw();
    else this.#write(`  step ${this.#done}/${this.#total}  ${this.#successText()}  ${this.#times()}`);
  }

  /** A line that stays. */
  say(line: string): void {
    this.#erase();
    this.#write(line);
  }

  close(): void {
    this.#erase();
  }

  #successText(): string {
    if (this.#success === undefined) return "";
    const base = this.#base === undefined ? "" : ` (base policy ${percent(this.#base)})`;
    return `success in training ${percent(this.#success)}${base}`;
  }

  #times(): string {
    const { seconds, atMost } = this.#clock.left();
    const left = Number.isNaN(seconds)
      ? "time left not known yet"
      : `${atMost ? "at most" : "about"} ${formatDuration(seconds)} left`;
    return `${formatDuration(this.#clock.elapsed())} gone, ${left}`;
  }

  #draw(): void {
    this.#erase();
    const fraction = this.#total > 0 ? this.#done / this.#total : 0;
    const unit = this.#part === "training" ? "step" : "episode";
    const count = this.#total > 0 ? `${unit} ${this.#done}/${this.#total}` : "";
    const lines = [
      `${progressBar(fraction, 30)}  ${count}  ${this.#times()}`,
      this.#part === "training" ? this.#successText() : "",
      this.#part === "training" && this.#activity ? `now: ${this.#activity}` : "",
    ].filter(Boolean);
    const width = (this.#screen.columns ?? 100) - 1;
    this.#screen.write(lines.map((line) => `${line.slice(0, width)}\n`).join(""));
    this.#drawn = lines.length;
    this.#spoke = this.#now();
  }

  #erase(): void {
    if (this.#drawn > 0) this.#screen.write(`\x1b[${this.#drawn}A\x1b[J`);
    this.#drawn = 0;
  }

  #write(line: string): void {
    this.#screen.write(`${line}\n`);
    this.#spoke = this.#now();
  }
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
