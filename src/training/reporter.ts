/** Who is told how a run goes: a terminal, a thread's owner, or a test. */
import type { Metrics } from "#metrics";

export interface Reporter {
  /** What is being done now, as a timer's name, and how much of it is done. */
  doing(phase: string, done?: number, total?: number): void;
  /** A line that stays. */
  say(line: string): void;
  /** The numbers of a finished step. */
  told(step: number, metrics: Metrics): void;
}

export const silent: Reporter = { doing() {}, say() {}, told() {} };
