/**
 * Who starts workers, and how they are called.
 *
 * A worker is an object whose methods answer promises. Where it lives (this thread, another thread, another machine) is the
 * launcher's business; training only holds the reference. The local launcher keeps it here or starts a thread of this process; a
 * launcher for Ray starts Node processes and carries the same calls.
 */
import { startThread } from "./thread-worker.ts";

/** The worker's methods, from outside. */
// biome-ignore lint/suspicious/noExplicitAny: any method may be called from afar
export type Methods = Record<string, (...args: any[]) => Promise<unknown>>;

export interface WorkerRef<W extends object> {
  call<K extends keyof W & string>(
    method: K,
    ...args: W[K] extends (...args: infer A) => unknown ? A : never
  ): Promise<W[K] extends (...args: never[]) => infer R ? Awaited<R> : never>;
  close(): Promise<void>;
}

/** Where the code of a worker is, and what it is made from. Everything in `options` can be structured-cloned. */
export interface WorkerSpec {
  readonly name: string;
  /** A module's URL and the exported async function that makes the worker. */
  readonly module: string;
  readonly factory: string;
  readonly options: unknown;
}

export interface Launcher {
  start<W extends object>(spec: WorkerSpec): Promise<WorkerRef<W>>;
}

/** Each worker in a thread of its own; tensors pass between threads without a copy. */
export const threadLauncher: Launcher = { start: startThread };

/** A worker that already lives here. */
export function localRef<W extends object>(
  worker: W,
  close: () => Promise<void> = async () => {},
): WorkerRef<W> {
  const methods = worker as unknown as Methods;
  return {
    call: (async (method: string, ...args: unknown[]) => {
      const run = methods[method];
      if (!run) throw new Error(`internal: the worker has no method ${method}`);
      return run.apply(worker, args);
    }) as WorkerRef<W>["call"],
    close,
  };
}
