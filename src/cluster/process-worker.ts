/**
 * A worker in a process of its own: it may crash, be killed or hang without taking the run with it, and its end gives back all the memory
 * that it held, on an accelerator too.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { WorkerRef, WorkerSpec } from "#registry";
import { CalledWorker } from "./called-worker.ts";
import { BorrowedBytes } from "./lent-bytes.ts";
import type { Reply } from "./messages.ts";

const entry = fileURLToPath(new URL("./process-entry.ts", import.meta.url));

/** OpenMP's, and those of Mesa's software renderer, where the user has not set them. */
const threadVariables = (count: number | undefined): NodeJS.ProcessEnv =>
  count === undefined
    ? {}
    : { OMP_NUM_THREADS: String(count), LP_NUM_THREADS: process.env.LP_NUM_THREADS ?? String(count) };

/** Milliseconds: a call to a process whose channel is closed fails at once; that it has ended, and how, is known a moment later. */
const obituary = 1000;

export function startProcess<W extends object>(spec: WorkerSpec): WorkerRef<W> {
  const bytes = spec.lendsBytes ? new BorrowedBytes() : undefined;
  const child = fork(entry, [spec.name, ...(bytes ? ["lends"] : [])], {
    serialization: "advanced",
    execArgv: ["--import", import.meta.resolve("tsx")],
    stdio: ["ignore", "inherit", "inherit", "ipc", ...(bytes ? [bytes.descriptor] : [])],
    env: { ...process.env, ...threadVariables(spec.threads) },
  });
  const worker = new CalledWorker<W>(spec, {
    place: `process ${child.pid}`,
    pid: child.pid,
    send: (call) =>
      void child.send(call, (error) => {
        if (error) setTimeout(() => worker.lose("closed its channel", { cause: error }), obituary);
      }),
    pack: (value) => value,
    unpack: (value) => (bytes ? bytes.unpack(value) : value),
    hangUp: () => void (child.connected && child.disconnect()),
    kill: () => void child.kill("SIGKILL"),
    giveUp: () => child.unref(),
  });
  const end = (why: string): void => {
    worker.end(why);
    bytes?.close();
  };
  child.on("message", (reply: Reply) => worker.receive(reply));
  child.on("exit", (code, signal) => end(signal ? `was killed by ${signal}` : `ended with code ${code}`));
  child.on("error", (cause) => {
    worker.lose(`could not be reached: ${cause.message}`, { cause });
    if (child.pid === undefined) end("never began"); // then nothing follows
  });
  return worker;
}
