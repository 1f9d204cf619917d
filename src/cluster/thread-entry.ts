/** The program of a worker thread: makes the worker, then answers calls one after the other in the order in which they came. */
import { parentPort, workerData } from "node:worker_threads";
import { UserError } from "#registry";
import type { Methods, WorkerSpec } from "./launcher.ts";
import { beatHeart } from "./silence-watch.ts";
import { packTensors, unpackTensors } from "./tensor-message.ts";
import type { CallMessage, ReplyMessage } from "./thread-worker.ts";

const { module, factory, options } = (workerData as { data: WorkerSpec }).data;
const made: Promise<Methods> = import(module).then((exports) => exports[factory](options));
made.catch(() => {}); // told to the first caller
beatHeart(() => parentPort?.postMessage({ id: -1, value: undefined } satisfies ReplyMessage)); // answers nobody

async function answer({ id, method, args }: CallMessage): Promise<ReplyMessage> {
  try {
    const worker = await made;
    if (method === "$made") return { id, value: undefined };
    const run = worker[method];
    if (!run) throw new Error(`internal: the worker has no method ${method}`);
    return { id, value: packTensors(await run.apply(worker, unpackTensors(args) as unknown[])) };
  } catch (error) {
    const isUserError = error instanceof UserError;
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { id, error: isUserError ? message : (stack ?? message), isUserError };
  }
}

let previous: Promise<unknown> = Promise.resolve();
parentPort?.on("message", (call: CallMessage) => {
  previous = previous.then(async () => parentPort?.postMessage(await answer(call)));
});
