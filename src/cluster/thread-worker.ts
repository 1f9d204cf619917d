/**
 * A worker in a thread of this process: calls go there as messages, answers and errors come back.
 *
 * A thread whose event loop does not turn for half an hour while somebody waits for its answer counts as hung.
 */
import { Worker } from "node:worker_threads";
import { Late, UserError, within } from "#registry";
import type { WorkerRef, WorkerSpec } from "./launcher.ts";
import { SilenceWatch } from "./silence-watch.ts";
import { packTensors, unpackTensors } from "./tensor-message.ts";

export interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly args: unknown;
}

export type ReplyMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string; readonly isUserError: boolean };

interface Waiting {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Threads do not inherit the loader that turns TypeScript into JavaScript, so each begins by registering it. */
const bootstrap = `
  const { workerData } = require("node:worker_threads");
  import(workerData.loader).then(({ register }) => { register(); return import(workerData.entry); });`;

export function openThread(entry: string, name: string, data: unknown): Worker {
  const loader = import.meta.resolve("tsx/esm/api");
  return new Worker(bootstrap, { eval: true, name, workerData: { loader, entry, data } });
}

/** Seconds: a micro-batch of a large model on a CPU is minutes of work in which the event loop stands still. */
const patience = 1800;
/** Seconds that a thread has to end; one that is caught in a system call never does, and must not hold up the rest. */
const lastWords = 10;

/** Ends a thread, or gives up waiting for that. */
export async function endThread(worker: Worker): Promise<void> {
  await within(worker.terminate(), lastWords, "a thread did not end").catch((error: unknown) => {
    if (!(error instanceof Late)) throw error;
    worker.unref();
  });
}

export async function startThread<W extends object>(spec: WorkerSpec): Promise<WorkerRef<W>> {
  const worker = openThread(new URL("./thread-entry.ts", import.meta.url).href, spec.name, spec);
  const waiting = new Map<number, Waiting>();
  let lost: Error | undefined;
  const lose = (error: Error): void => {
    lost ??= error;
    watch.end();
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  };
  const watch = new SilenceWatch(() => {
    const calls = [...waiting.values()].map(({ method }) => method).join(", ");
    lose(new Late(`the run waited for worker "${spec.name}" (${calls}): no sign of life for ${patience} s`));
  });
  worker.on("error", lose);
  worker.on("exit", (code) => lose(new Error(`internal: worker ${spec.name} ended with code ${code}`)));
  worker.on("message", (reply: ReplyMessage) => {
    watch.sign();
    settle(waiting, reply);
    if (waiting.size === 0) watch.end();
  });
  let next = 0;
  const call = (method: string, ...args: unknown[]): Promise<unknown> => {
    if (lost) return Promise.reject(lost);
    return new Promise((resolve, reject) => {
      const id = next++;
      if (waiting.size === 0) watch.begin(patience);
      waiting.set(id, { method, resolve, reject });
      worker.postMessage({ id, method, args: packTensors(args) } satisfies CallMessage);
    });
  };
  await call("$made");
  return {
    call: call as WorkerRef<W>["call"],
    async close() {
      lost ??= new Error(`internal: worker ${spec.name} was closed`);
      await endThread(worker);
    },
  };
}

function settle(waiting: Map<number, Waiting>, reply: ReplyMessage): void {
  const entry = waiting.get(reply.id);
  if (!entry) return;
  waiting.delete(reply.id);
  if ("value" in reply) entry.resolve(unpackTensors(reply.value));
  else entry.reject(reply.isUserError ? new UserError(reply.error) : new Error(reply.error));
}
