/**
 * Starts a run in a thread of its own, passes on what it says, and watches over it.
 *
 * A thread that is caught in a system call or an endless loop can neither hear a request to stop nor be ended from outside. So its signs of
 * life are watched from here, and whoever started it is told what hung, instead of waiting with it.
 */
import { SilenceWatch, threadLauncher } from "#cluster";
import type { Metrics } from "#metrics";
import { UserError, WorkerLost } from "#registry";
import type { Engine } from "./engine-thread.ts";
import type { Reporter } from "./reporter.ts";

export type EngineRequest = {
  readonly config: string;
  readonly overrides: readonly string[];
  readonly configPath?: string | undefined;
} & (
  | { readonly work: "train" }
  | { readonly work: "evaluate"; readonly resultFile: string; readonly share?: number | undefined }
);

/** What a run tells as it goes. */
export type EngineEvent =
  | { readonly kind: "opened"; readonly step: number; readonly totalSteps: number }
  | {
      readonly kind: "doing";
      readonly phase: string;
      readonly done?: number | undefined;
      readonly total?: number | undefined;
    }
  | { readonly kind: "say"; readonly line: string }
  | { readonly kind: "told"; readonly step: number; readonly metrics: Metrics };

export interface EngineEnd {
  /** Before its last step, because it was asked to. */
  readonly stopped: boolean;
}

export interface EngineHandle {
  /** Resolves when the run has ended; rejects when it failed, with `EngineHung` when it hung. */
  readonly finished: Promise<EngineEnd>;
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

const engineProgram = { module: new URL("./engine-thread.ts", import.meta.url).href, factory: "openEngine" };

/** The run's thread hangs: it cannot be ended, and the process only without asking it. */
export class EngineHung extends UserError {
  override name = "EngineHung";
}

/** Seconds: a run that is over and has not let go of everything by then is ended, for an error must not look like a hang. */
const grace = 10;

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
  const { silence } = patience;
  const worker = threadLauncher.start<Engine>({
    ...engineProgram,
    name: "engine",
    options: request,
    patience: { silence },
  });
  let at = "opening models and environments";
  let hang = (_: EngineHung): void => {};
  const standstill = new SilenceWatch(() =>
    hang(
      new EngineHung(`the run was told to stop and made no progress for ${patience.stop} s while at: ${at}`),
    ),
  );
  const onEvent = (event: EngineEvent): void => {
    if (event.kind !== "say") standstill.sign();
    if (event.kind === "say") watcher.say(event.line);
    else if (event.kind === "opened") watcher.opened?.(event.step, event.totalSteps);
    else if (event.kind === "told") watcher.told(event.step, event.metrics);
    else {
      at = describePhase(event);
      watcher.doing(event.phase, event.done, event.total);
    }
  };
  const explain = (error: unknown): never => {
    if (!(error instanceof WorkerLost && error.hung)) throw error;
    throw new EngineHung(`the run hangs: no sign of life for ${silence} s while at: ${at}`, { cause: error });
  };
  const finished = new Promise<EngineEnd>((resolve, reject) => {
    hang = reject;
    worker.call("run", undefined, { onEvent }).catch(explain).then(resolve, reject);
  }).finally(() => {
    standstill.end();
    void worker.stop(grace);
  });
  const urgent = { urgent: true };
  const asked = (order: Promise<void>): void => void order.catch(() => {}); // a lost one says so in `finished`
  return {
    finished,
    get at() {
      return at;
    },
    stop() {
      standstill.begin(patience.stop);
      asked(worker.call("stop", undefined, urgent));
    },
    finish: () => asked(worker.call("finish", undefined, urgent)),
    shorten: (share) => asked(worker.call("shorten", share, urgent)),
    kill: () => worker.kill(),
  };
}

const describePhase = ({ phase, done, total }: Extract<EngineEvent, { kind: "doing" }>): string =>
  done === undefined ? phase : `${phase} (${done} of ${total})`;
