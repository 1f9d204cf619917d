/**
 * Signals that ask a command to stop, and how it leaves when something in it cannot be asked any more.
 *
 * SIGINT is Ctrl-C, SIGTERM a service manager, SIGHUP a terminal that was closed. A run answers the first of them by saving; the second
 * ends it at once, and so does its deadline when the run hangs.
 */
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { sweepTemporaries } from "#formats";
import { endProcess } from "#tensor";
import { type EngineHandle, EngineHung, type EnginePatience } from "#training";
import { type StopListener, TrainingStopped } from "#world-training";

export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What a shell reports of a process that a signal ended. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** How often a user who waits for a stop is told what for, in milliseconds. */
const reminder = 15_000;

/** Calls `onSignal` for each of them. Gives a function that undoes this. */
export function onStopSignals(onSignal: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of stopSignals) process.on(signal, onSignal);
  return () => {
    for (const signal of stopSignals) process.off(signal, onSignal);
  };
}

/** Asks a run to save and end, and says now and then what is being waited for. Gives a function that ends the telling. */
export function stopEngine(
  engine: EngineHandle,
  { stop }: EnginePatience,
  say: (line: string) => void,
): () => void {
  say(
    `stopping: the steps that are done are saved; a second signal ends at once, as do ${stop} s without progress`,
  );
  engine.stop();
  const timer = setInterval(() => say(`still waiting for: ${engine.at}`), reminder).unref();
  return () => clearInterval(timer);
}

/** For a training in this very thread: the first signal is heard after the step under way, a second one ends at once. */
export function listenForStop(): StopListener {
  let isAsked = false;
  const end = onStopSignals((signal) => {
    if (isAsked) leave(exitCodeOf(signal));
    isAsked = true;
    process.exitCode = exitCodeOf(signal);
    process.stderr.write("stopping after this step, which is saved; a second signal ends at once\n");
  });
  return { isAsked: () => isAsked, end };
}

/** Whether a training that listens came to its end; one that was stopped is told about and is no error. */
export async function untilStopped(training: Promise<void>, resume: string): Promise<boolean> {
  try {
    await training;
    return true;
  } catch (error) {
    if (!(error instanceof TrainingStopped)) throw error;
    console.log(`${error.message}; go on with: ${resume}`);
    return false;
  }
}

/** Ends the process although its run hangs; other errors are passed on to the caller. */
export function leaveIfHung(error: unknown, folder: string, resume: string): void {
  if (!(error instanceof EngineHung)) return;
  process.stderr.write(
    `error: ${error.message}; the process ends here. Whole checkpoints stay; go on with: ${resume}\n`,
  );
  leave(2, folder);
}

/**
 * Ends this process and all that it started, without waiting for anybody: threads may hang, and children too. What is left of films in
 * `folder` is removed.
 */
export function leave(code: number, folder?: string): never {
  for (const child of children()) process.kill(child, "SIGKILL");
  if (folder !== undefined) sweepTemporaries(folder, process.pid);
  return endProcess(code);
}

/** Children of all threads of this process; its threads know only their own. */
function children(): number[] {
  return readdirSync("/proc/self/task").flatMap((thread) => {
    try {
      const list = readFileSync(`/proc/self/task/${thread}/children`, "utf8").trim();
      return list === "" ? [] : list.split(" ").map(Number);
    } catch {
      return []; // the thread has ended
    }
  });
}
