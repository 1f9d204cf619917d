/**
 * How long the job has taken and how long it will still take: evaluate, train, evaluate again.
 *
 * The second evaluation is expected to take as long as the first. Until a training step is done nobody knows how long
 * one takes; the job's own limit is then all that can be said.
 */
import { TimeLeft } from "#metrics";

export type JobPart = "before" | "training" | "after" | "report";

export interface JobClockOptions {
  /** Seconds that the whole job may take; 0: as long as it needs. */
  readonly limit: number;
  /** Seconds spent before this call. */
  readonly spent: number;
  readonly now?: () => number; // ms
}

/** Film, picture and files, in seconds. */
const reportSeconds = 20;

export class JobClock {
  readonly #limit: number;
  readonly #spent: number;
  readonly #now: () => number;
  readonly #began: number;
  #part: JobPart = "before";
  #partBegan = 0;
  #share = 0; // of an evaluation, 0 to 1
  #evaluation = 0; // seconds of the first evaluation
  #steps: TimeLeft | undefined;
  #lastStep = 0;

  constructor({ limit, spent, now = () => performance.now() }: JobClockOptions) {
    this.#limit = limit;
    this.#spent = spent;
    this.#now = now;
    this.#began = now();
  }

  begin(part: JobPart): void {
    this.#part = part;
    this.#partBegan = this.#now();
    this.#share = 0;
  }

  /** The first evaluation is over, now or in an earlier call. */
  evaluationTook(seconds: number): void {
    this.#evaluation = seconds;
  }

  evaluated(done: number, total: number): void {
    this.#share = total > 0 ? done / total : 0;
  }

  trainingOpened(doneSteps: number, totalSteps: number): void {
    this.#steps = new TimeLeft(totalSteps, doneSteps);
  }

  stepTook(seconds: number): void {
    this.#steps?.stepTook(seconds);
    this.#lastStep = seconds;
  }

  elapsed(): number {
    return this.#spent + (this.#now() - this.#began) / 1000;
  }

  partElapsed(): number {
    return (this.#now() - this.#partBegan) / 1000;
  }

  /**
   * Whether training must end with the step that has just begun. One more decision later a second step would be under way, so
   * two steps, the evaluation and the report have to fit.
   */
  get mustStop(): boolean {
    return this.#limit > 0 && this.elapsed() + 2 * this.#lastStep + this.#afterTraining() > this.#limit;
  }

  /** Seconds, and whether that is an upper bound only. NaN: nobody knows. */
  left(): { readonly seconds: number; readonly atMost: boolean } {
    const bound = this.#limit > 0 ? Math.max(0, this.#limit - this.elapsed()) : Number.NaN;
    if (this.#part === "report") return { seconds: reportSeconds, atMost: true };
    if (this.#part === "after")
      return { seconds: this.#evaluationLeft(this.#evaluation) + reportSeconds, atMost: false };
    const steps = this.#part === "training" ? (this.#steps?.seconds() ?? Number.NaN) : Number.NaN;
    if (Number.isNaN(steps)) return { seconds: bound, atMost: true };
    const whole = steps + this.#afterTraining();
    return { seconds: this.#limit > 0 ? Math.min(whole, bound) : whole, atMost: false };
  }

  #afterTraining(): number {
    return 1.1 * this.#evaluation + reportSeconds;
  }

  #evaluationLeft(expected: number): number {
    const elapsed = this.partElapsed();
    return this.#share > 0.05 ? elapsed * (1 / this.#share - 1) : Math.max(0, expected - elapsed);
  }
}
