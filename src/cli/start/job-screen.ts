/** The job's view on the terminal, the same as plain lines in `run.log`, and the clock behind both. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sweepTemporaries } from "#formats";
import type { EngineWatcher } from "#training";
import { JobClock, type JobClockOptions, type JobPart } from "./job-clock.ts";
import { JobView } from "./job-view.ts";

export interface JobScreen extends EngineWatcher {
  readonly clock: JobClock;
  begin(part: JobPart): void;
  /** The first evaluation's result. */
  measured(base: { readonly success: number; readonly seconds: number }): void;
  /** Takes the view away, and leaves a last line. */
  close(line?: string): void;
}

export function openJobScreen(folder: string, options: JobClockOptions): JobScreen {
  mkdirSync(folder, { recursive: true });
  sweepTemporaries(folder); // half-made films of a run that was killed
  const file = openSync(join(folder, "run.log"), "a");
  const clock = new JobClock(options);
  const toFile = { write: (text: string) => writeSync(file, text) };
  const views = [new JobView(process.stderr, clock), new JobView(toFile, clock)];
  const each = (tell: (view: JobView) => void): void => views.forEach(tell);
  return {
    clock,
    begin(part) {
      clock.begin(part);
      each((view) => view.begin(part));
    },
    measured({ success, seconds }) {
      clock.evaluationTook(seconds);
      each((view) => view.measured(success));
    },
    opened(step, totalSteps) {
      clock.trainingOpened(step, totalSteps);
      each((view) => view.opened(step, totalSteps));
    },
    doing(phase, done, total) {
      if (done !== undefined && total !== undefined) {
        if (phase === "eval") clock.evaluated(done, total);
        if (phase === "generate_rollouts") clock.played(done, total);
      }
      each((view) => view.doing(phase, done, total));
    },
    say: (line) => each((view) => view.say(line)),
    told(step, metrics) {
      clock.stepTook(metrics["time/step"] ?? Number.NaN);
      each((view) => view.told(step, metrics));
    },
    close(line) {
      each((view) => view.close());
      if (line !== undefined) each((view) => view.say(line));
      closeSync(file);
    },
  };
}
