/**
 * How long the job has taken and how long it will still take: evaluate, train, evaluate again.
 *
 * The second evaluation is expected to take as long as the first. Until a training step is done nobody knows how long
 * one takes; the job's own limit is then all that can be said. Steps are planned by the median of the last ones (`TimeLeft`).
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
export const reportSeconds = 20;

export class JobClock {
  readonly #limit: number;
  readonly #spent: number;
  readonly #now: () => number;
  readonly #began: number;
  #part: JobPart = "before";
  #partBegan = 0;
  #share = 0; // of an evaluation, 0 to 1
  #playBegan = Number.NaN; // ms, when a part's episodes began
  #evaluation = 0; // seconds of the first evaluation
  #steps: TimeLeft | undefined;
  #stepBegan = 0; // ms
  #playing = { share: 0, seconds: 0 }; // of the step under way
  #firstPlaying = Number.NaN; // seconds in which the first step's episodes were played

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
    this.#playBegan = Number.NaN;
  }

  /** The first evaluation is over, now or in an earlier call. */
  evaluationTook(seconds: number): void {
    this.#evaluation = seconds;
  }

  evaluated(done: number, total: number): void {
    this.#share = total > 0 ? done / total : 0;
    if (Number.isNaN(this.#playBegan)) this.#playBegan = this.#now();
  }

  /**
   * Seconds until the evaluation's episodes began, and while all of them are played; undefined while that is a guess. Where much of the
   * time is gone already, any sign of how slow it is counts.
   */
  evaluationSpeed(): { readonly opening: number; readonly playing: number } | undefined {
    const slow = this.#limit > 0 && this.partElapsed() > 0.3 * this.#limit;
    if (this.#share < (slow ? 0.05 : 0.15)) return undefined;
    return {
      opening: (this.#playBegan - this.#partBegan) / 1000,
      playing: (this.#now() - this.#playBegan) / 1000 / this.#share,
    };
  }

  get limit(): number {
    return this.#limit;
  }

  trainingOpened(doneSteps: number, totalSteps: number): void {
    this.#steps = new TimeLeft(totalSteps, doneSteps);
    this.#stepBegan = this.#now();
  }

  /** The step under way has played so many of its decisions. */
  played(done: number, total: number): void {
    this.#playing = { share: total > 0 ? done / total : 0, seconds: this.#inStep() };
  }

  stepTook(seconds: number): void {
    if (this.#steps?.seen === 0) this.#firstPlaying = this.#playing.seconds;
    this.#steps?.stepTook(seconds);
    this.#stepBegan = this.#now();
    this.#playing = { share: 0, seconds: 0 };
  }

  elapsed(): number {
    return this.#spent + (this.#now() - this.#began) / 1000;
  }

  partElapsed(): number {
    return (this.#now() - this.#partBegan) / 1000;
  }

  get isOver(): boolean {
    return this.#limit > 0 && this.elapsed() > this.#limit;
  }

  /**
   * Whether training must end with the step under way: with another one, the evaluation and the report would not fit. Asked when the
   * step has played most of its episodes, for then it is known best how long it takes, and there is still time to tell the engine.
   */
  get mustStop(): boolean {
    if (this.#limit <= 0) return false;
    const step = this.#stepEstimate();
    const next = Number.isNaN(step) ? 0 : Math.max(step - this.#inStep(), 0) + step;
    return this.elapsed() + next + this.#afterTraining() > this.#limit;
  }

  /** Seconds, and whether that is an upper bound only. NaN: nobody knows. */
  left(): { readonly seconds: number; readonly atMost: boolean } {
    if (this.#part === "report")
      return { seconds: untilLate(reportSeconds - this.partElapsed()), atMost: false };
    if (this.#part === "after") return { seconds: this.#evaluationLeft() + reportSeconds, atMost: false };
    const steps =
      this.#part === "training" ? (this.#steps?.seconds(this.#inStep()) ?? Number.NaN) : Number.NaN;
    const whole = steps + this.#afterTraining();
    const bound = this.#limit - this.elapsed();
    if (this.#limit <= 0) return { seconds: whole, atMost: false };
    if (bound <= 0)
      return { seconds: this.#part === "training" ? this.#afterTraining() : Number.NaN, atMost: false };
    return Number.isNaN(whole)
      ? { seconds: bound, atMost: true }
      : { seconds: Math.min(whole, bound), atMost: false };
  }

  #inStep(): number {
    return (this.#now() - this.#stepBegan) / 1000;
  }

  /** The first step is slow, it starts and compiles things; while only it is known, the second is judged by how fast it plays. */
  #stepEstimate(): number {
    const { stepSeconds = Number.NaN, seen = 0 } = this.#steps ?? {};
    const { share, seconds } = this.#playing;
    const comparable = seen === 1 && share > 0 && this.#firstPlaying > 0;
    return stepSeconds * Math.min(1, comparable ? seconds / share / this.#firstPlaying : 1);
  }

  #afterTraining(): number {
    return 1.1 * this.#evaluation + reportSeconds;
  }

  #evaluationLeft(): number {
    const elapsed = this.partElapsed();
    return this.#share > 0.05 ? elapsed * (1 / this.#share - 1) : untilLate(this.#evaluation - elapsed);
  }
}

/** What takes longer than it should takes nobody knows how long. */
const untilLate = (seconds: number): number => (seconds > 0 ? seconds : Number.NaN);
