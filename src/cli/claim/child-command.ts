/**
 * A `reverie` command as a process of its own, with its words in a log file.
 *
 * A claim's runs are the commands that a person would type. Each has its own process group: Ctrl-C reaches the claim alone, which passes
 * it on once (a second signal would end a run without saving). It also has a channel to the claim, so that it ends when the claim is gone.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../bin/reverie.mjs", import.meta.url));

export interface ChildCommand {
  /** Its exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Asks it to save and end; it is ended without asking after so many seconds. */
  stop(patience: number): void;
  /** Ends it and all that it started, now. */
  kill(): void;
}

export function startCommand(words: readonly string[], log: string): ChildCommand {
  const file = openSync(log, "a");
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ["ignore", file, file, "ipc"],
    detached: true,
  });
  closeSync(file);
  let deadline: NodeJS.Timeout | undefined;
  const kill = (): void => signalGroup(child.pid, "SIGKILL");
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  }).finally(() => clearTimeout(deadline));
  return {
    ended,
    kill,
    stop(patience) {
      if (deadline) return;
      child.kill("SIGTERM");
      deadline = setTimeout(kill, 1000 * patience);
    },
  };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it has just ended
  }
}
