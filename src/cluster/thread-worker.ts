/** A worker in a thread of this process. Tensors go back and forth without a copy. */
import { Worker } from "node:worker_threads";
import type { WorkerRef, WorkerSpec } from "#registry";
import { CalledWorker } from "./called-worker.ts";
import type { Reply } from "./messages.ts";
import { packTensors, unpackTensors } from "./tensor-message.ts";

/** Threads do not inherit the loader that turns TypeScript into JavaScript, so each begins by registering it. */
const bootstrap = `
  const { workerData } = require("node:worker_threads");
  import(workerData.loader).then(({ register }) => { register(); return import(workerData.entry); });`;

/** Seconds without a heartbeat: a micro-batch of a large model on a CPU is minutes of work in which the event loop stands still. */
const silence = 1800;

export function startThread<W extends object>(spec: WorkerSpec): WorkerRef<W> {
  const loader = import.meta.resolve("tsx/esm/api");
  const entry = new URL("./thread-entry.ts", import.meta.url).href;
  const thread = new Worker(bootstrap, { eval: true, name: spec.name, workerData: { loader, entry } });
  const worker = new CalledWorker<W>(
    { ...spec, patience: { silence, ...spec.patience } },
    {
      place: "thread",
      send: (call) => thread.postMessage(call),
      pack: packTensors,
      unpack: unpackTensors,
      hangUp: () => thread.postMessage("end"),
      kill: () => void thread.terminate(),
      giveUp: () => thread.unref(),
    },
  );
  thread.on("message", (reply: Reply) => worker.receive(reply));
  thread.on("error", (cause) => worker.lose(`failed: ${cause.message}`, { cause }));
  thread.on("exit", (code) => worker.end(`ended with code ${code}`));
  return worker;
}
