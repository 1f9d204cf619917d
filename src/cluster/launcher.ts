/** Those who start workers on this machine: each in a thread, or each in a process of its own. */
import { type Launcher, UserError, type WorkerSpec } from "#registry";
import { startProcess } from "./process-worker.ts";
import { startThread } from "./thread-worker.ts";

const onThisMachine = (start: Launcher["start"]): Launcher => ({
  start<W extends object>(spec: WorkerSpec) {
    const { name, place } = spec;
    if (place && place.node !== 0)
      throw new UserError(
        `the ${name} belongs on node ${place.node}; only this machine can start workers yet`,
      );
    return start<W>(spec);
  },
});

export const threadLauncher = onThisMachine(startThread);
export const processLauncher = onThisMachine(startProcess);
