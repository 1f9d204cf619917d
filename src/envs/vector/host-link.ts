/**
 * A line to a slot host: in this process, or in a process of its own that may crash, be killed or hang without taking the
 * run with it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { type HostSettings, SlotHost } from "#simulators";
import { FrameFile } from "./frame-file.ts";

export type HostMethod = "begin" | "chunk" | "restore";
type Arguments<M extends HostMethod> = Parameters<SlotHost[M]>[0];
type Answer<M extends HostMethod> = ReturnType<SlotHost[M]>;

export interface HostLink {
  call<M extends HostMethod>(method: M, argument: Arguments<M>): Promise<Answer<M>>;
  close(): void;
}

/** The worker is gone, with everything its slots were doing. */
export class WorkerLost extends Error {
  override name = "WorkerLost";
  readonly hung: boolean;

  constructor(message: string, hung: boolean) {
    super(message);
    this.hung = hung;
  }
}

export interface HostRequest {
  readonly id: number;
  readonly method: HostMethod | "open";
  readonly argument: unknown;
}

/** Seconds until a worker that is silent counts as hung: while its process starts, and with a request before it. */
export interface Patience {
  readonly start: number;
  readonly answer: number;
}

export type HostReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string; readonly isUserError: boolean };

/** Everything in this process: simplest, and enough for one core. */
export function inlineLink(settings: HostSettings): HostLink {
  const host = new SlotHost(settings);
  return {
    async call<M extends HostMethod>(method: M, argument: Arguments<M>): Promise<Answer<M>> {
      const run = host[method].bind(host) as (argument: Arguments<M>) => Answer<M>;
      return run(argument);
    },
    close: () => host.dispose(),
  };
}

const program = fileURLToPath(new URL("./host-process.ts", import.meta.url));

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** A call to a worker whose channel is closed fails at once; that its process has ended, and how, is known a moment later. */
const obituaryMilliseconds = 1000;

/** A child process. A call that takes longer than its patience counts as a hang, and the process is killed. */
export class ProcessLink implements HostLink {
  readonly #child: ChildProcess;
  readonly #patience: Patience;
  readonly #frames = new FrameFile();
  readonly #waiting = new Map<number, Waiting>();
  readonly #opened: Promise<unknown>;
  #next = 0;
  #lost: string | undefined;
  #hung = false;
  #closed = false;

  constructor(settings: HostSettings, patience: Patience) {
    this.#patience = patience;
    this.#child = fork(program, [], {
      serialization: "advanced",
      execArgv: ["--import", import.meta.resolve("tsx")],
      stdio: ["ignore", "inherit", "inherit", "ipc", this.#frames.descriptor],
      // One core per worker: libraries that start threads of their own would only get in each other's way.
      env: { ...process.env, OMP_NUM_THREADS: "1", LP_NUM_THREADS: process.env.LP_NUM_THREADS ?? "1" },
    });
    this.#child.on("message", (reply: HostReply) => this.#receive(reply));
    this.#child.on("error", (error) => this.#lose(`could not be reached: ${error.message}`));
    this.#child.on("exit", (code, signal) =>
      this.#lose(signal ? `killed by ${signal}` : `ended with code ${code}`),
    );
    this.#opened = this.#send("open", settings);
    this.#opened.catch(() => {}); // told to the first caller
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async call<M extends HostMethod>(method: M, argument: Arguments<M>): Promise<Answer<M>> {
    await this.#opened; // the time that a process takes to start is not the request's
    const answer = await this.#send(method, argument);
    return (Array.isArray(answer) ? this.#frames.unpack(answer) : answer) as Answer<M>;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#lost ??= "was closed";
    this.#child.kill("SIGKILL"); // it holds nothing that needs saving
    this.#frames.close();
  }

  #send(method: HostRequest["method"], argument: unknown): Promise<unknown> {
    if (this.#lost) return Promise.reject(this.#loss());
    const id = this.#next++;
    const seconds = method === "open" ? this.#patience.start : this.#patience.answer;
    const silence = method === "open" ? "did not start" : `gave no answer to "${method}"`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#hang(`${silence} within ${seconds} s`), 1000 * seconds);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#child.send({ id, method, argument } satisfies HostRequest, (error) => {
        if (error) setTimeout(() => this.#lose("closed its channel"), obituaryMilliseconds);
      });
    });
  }

  #receive(reply: HostReply): void {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    this.#waiting.delete(reply.id);
    clearTimeout(waiting.timer);
    if ("value" in reply) waiting.resolve(reply.value as never);
    else waiting.reject(reply.isUserError ? new UserError(reply.error) : new Error(reply.error));
  }

  #loss(): WorkerLost {
    return new WorkerLost(`the env worker (process ${this.pid}) ${this.#lost}`, this.#hung);
  }

  #hang(why: string): void {
    this.#hung = true;
    this.#lose(why);
    this.#child.kill("SIGKILL");
  }

  #lose(why: string): void {
    this.#lost ??= why;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(this.#loss());
    }
    this.#waiting.clear();
  }
}
