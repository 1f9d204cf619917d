/** A worker in a thread of this process: calls go there as messages, answers and errors come back. */
import { Worker } from "node:worker_threads";
import { UserError } from "#registry";
import type { WorkerRef, WorkerSpec } from "./launcher.ts";
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

export async function startThread<W extends object>(spec: WorkerSpec): Promise<WorkerRef<W>> {
  const worker = openThread(new URL("./thread-entry.ts", import.meta.url).href, spec.name, spec);
  const waiting = new Map<number, Waiting>();
  let lost: Error | undefined;
  const lose = (error: Error): void => {
    lost ??= error;
    for (const { reject } of waiting.values()) reject(lost);
    waiting.clear();
  };
  worker.on("error", lose);
  worker.on("exit", (code) => lose(new Error(`internal: worker ${spec.name} ended with code ${code}`)));
  worker.on("message", (reply: ReplyMessage) => settle(waiting, reply));
  let next = 0;
  const call = (method: string, ...args: unknown[]): Promise<unknown> => {
    if (lost) return Promise.reject(lost);
    return new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, method, args: packTensors(args) } satisfies CallMessage);
    });
  };
  await call("$made");
  return {
    call: call as WorkerRef<W>["call"],
    async close() {
      lost ??= new Error(`internal: worker ${spec.name} was closed`);
      await worker.terminate();
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
