/**
 * Starts a run in a thread of its own, passes on what it says, and watches over it.
 *
 * A thread that is caught in a system call or an endless loop can neither hear a request to stop nor be ended from outside. So its signs of
 * life are watched from here, and whoever started it is told what hung, instead of waiting with it.
 */
import { endThread, openThread, SilenceWatch } from "#cluster";
import type { Metrics } from "#metrics";
import { UserError } from "#registry";
import type { Reporter } from "./reporter.ts";

export type EngineRequest = {
  readonly config: string;
  readonly overrides: readonly string[];
  readonly configPath?: string | undefined;
} & (
  | { readonly work: "train" }
  | { readonly work: "evaluate"; readonly resultFile: string; readonly share?: number | undefined }
);

export type ToEngine =
  | { readonly kind: "stop" }
  | { readonly kind: "finish" }
  | { readonly kind: "shorten"; readonly share: number };

export type FromEngine =
  | { readonly kind: "opened"; readonly step: number; readonly totalSteps: number }
  | {
      readonly kind: "doing";
      readonly phase: string;
      readonly done?: number | undefined;
      readonly total?: number | undefined;
    }
  | { readonly kind: "say"; readonly line: string }
  /** A sign of life: the event loop turns. */
  | { readonly kind: "alive" }
  | { readonly kind: "told"; readonly step: number; readonly metrics: Metrics }
  | { readonly kind: "done"; readonly stopped: boolean }
  | { readonly kind: "failed"; readonly error: string; readonly isUserError: boolean };

export interface EngineHandle {
  /** Resolves when the run has ended, to whether it was stopped before its last step; rejects when it failed, with `EngineHung` when it hung. */
  readonly finished: Promise<{ readonly stopped: boolean }>;
  /** What it is at, as far as it said. */
  readonly at: string;
  /** Ends the run, with a checkpoint of the steps that are done. */
  stop(): void;
  /** Ends the run with the step under way. */
  finish(): void;
  /** Lets an evaluation play only this part of every task's starts. */
  shorten(share: number): void;
  /** Ends it now; one that hangs is given up after a few seconds. */
  kill(): Promise<void>;
}

export interface EngineWatcher extends Reporter {
  opened?(step: number, totalSteps: number): void;
}

/** Seconds: how long a stopping run may go without progress, and any run without a sign of life. */
export interface EnginePatience {
  readonly stop: number;
  readonly silence: number;
}

/** The run's thread hangs: it cannot be ended, and the process only without asking it. */
export class EngineHung extends UserError {
  override name = "EngineHung";
}

/** A failed run that has not let go of everything by then is ended: an error must not look like a hang. */
const graceMilliseconds = 10_000;

export function patienceOf(runner: {
  readonly stop_timeout: number;
  readonly watchdog_timeout: number;
}): EnginePatience {
  return { stop: runner.stop_timeout, silence: runner.watchdog_timeout };
}

export function startEngine(
  request: EngineRequest,
  watcher: EngineWatcher,
  patience: EnginePatience,
): EngineHandle {
  watcher.doing("start_engine");
  const worker = openThread(new URL("./engine-thread.ts", import.meta.url).href, "engine", request);
  let at = "opening models and environments";
  let hang = (_: EngineHung): void => {};
  const silence = new SilenceWatch(() =>
    hang(new EngineHung(`the run hangs: no sign of life for ${patience.silence} s while at: ${at}`)),
  );
  const standstill = new SilenceWatch(() =>
    hang(
      new EngineHung(`the run was told to stop and made no progress for ${patience.stop} s while at: ${at}`),
    ),
  );
  const finished = new Promise<{ stopped: boolean }>((resolve, reject) => {
    hang = reject;
    worker.on("message", (message: FromEngine) => {
      silence.sign();
      if (message.kind === "alive") return;
      if (message.kind === "say") return watcher.say(message.line);
      standstill.sign();
      if (message.kind === "opened") watcher.opened?.(message.step, message.totalSteps);
      else if (message.kind === "doing") {
        at = describePhase(message);
        watcher.doing(message.phase, message.done, message.total);
      } else if (message.kind === "told") watcher.told(message.step, message.metrics);
      else if (message.kind === "done") resolve({ stopped: message.stopped });
      else {
        reject(message.isUserError ? new UserError(message.error) : new Error(message.error));
        setTimeout(() => worker.terminate(), graceMilliseconds).unref();
      }
    });
    worker.on("error", reject);
    worker.on("exit", (code) =>
      reject(new Error(`internal: the engine ended with code ${code} and said nothing`)),
    );
  }).finally(() => {
    silence.end();
    standstill.end();
  });
  silence.begin(patience.silence);
  return {
    finished,
    get at() {
      return at;
    },
    stop() {
      standstill.begin(patience.stop);
      worker.postMessage({ kind: "stop" } satisfies ToEngine);
    },
    finish: () => worker.postMessage({ kind: "finish" } satisfies ToEngine),
    shorten: (share) => worker.postMessage({ kind: "shorten", share } satisfies ToEngine),
    kill: () => endThread(worker),
  };
}

const describePhase = ({ phase, done, total }: Extract<FromEngine, { kind: "doing" }>): string =>
  done === undefined ? phase : `${phase} (${done} of ${total})`;
