/** Starts a run in a thread of its own and passes on what it says. */
import { openThread } from "#cluster";
import type { Metrics } from "#metrics";
import { UserError } from "#registry";
import type { Reporter } from "./reporter.ts";

export type EngineRequest = {
  readonly config: string;
  readonly overrides: readonly string[];
  readonly configPath?: string | undefined;
} & ({ readonly work: "train" } | { readonly work: "evaluate"; readonly resultFile: string });

export type ToEngine = { readonly kind: "stop" };

export type FromEngine =
  | { readonly kind: "opened"; readonly step: number; readonly totalSteps: number }
  | {
      readonly kind: "doing";
      readonly phase: string;
      readonly done?: number | undefined;
      readonly total?: number | undefined;
    }
  | { readonly kind: "say"; readonly line: string }
  | { readonly kind: "told"; readonly step: number; readonly metrics: Metrics }
  | { readonly kind: "done"; readonly stopped: boolean }
  | { readonly kind: "failed"; readonly error: string; readonly isUserError: boolean };

export interface EngineHandle {
  /** Resolves when the run has ended, to whether it was stopped before its last step; rejects when it failed. */
  readonly finished: Promise<{ readonly stopped: boolean }>;
  /** Ends the run after the step under way, with a checkpoint. */
  stop(): void;
  /** Ends it now. */
  kill(): Promise<void>;
}

export interface EngineWatcher extends Reporter {
  opened?(step: number, totalSteps: number): void;
}

/** A failed run that has not let go of everything by then is ended: an error must not look like a hang. */
const graceMilliseconds = 10_000;

export function startEngine(request: EngineRequest, watcher: EngineWatcher): EngineHandle {
  watcher.doing("start_engine");
  const worker = openThread(new URL("./engine-thread.ts", import.meta.url).href, "engine", request);
  const finished = new Promise<{ stopped: boolean }>((resolve, reject) => {
    worker.on("message", (message: FromEngine) => {
      if (message.kind === "opened") watcher.opened?.(message.step, message.totalSteps);
      else if (message.kind === "doing") watcher.doing(message.phase, message.done, message.total);
      else if (message.kind === "say") watcher.say(message.line);
      else if (message.kind === "told") watcher.told(message.step, message.metrics);
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
  });
  return {
    finished,
    stop: () => worker.postMessage({ kind: "stop" } satisfies ToEngine),
    async kill() {
      await worker.terminate();
    },
  };
}
