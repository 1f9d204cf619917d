/**
 * A line to a slot host: in this process, or in a process of its own that may crash, be killed or hang without taking the
 * run with it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { FrameFile } from "./frame-file.ts";
import { type HostSettings, SlotHost } from "./slot-host.ts";

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

export interface OpenRequest {
  readonly settings: HostSettings;
  readonly frameFile: string;
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

/** A child process. A call that takes longer than the time-out counts as a hang, and the process is killed. */
export class ProcessLink implements HostLink {
  readonly #child: ChildProcess;
  readonly #timeout: number;
  readonly #frames = new FrameFile();
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #lost: string | undefined;
  #hung = false;
  #closed = false;

  constructor(settings: HostSettings, timeoutSeconds: number) {
    this.#timeout = timeoutSeconds;
    this.#child = fork(program, [], {
      serialization: "advanced",
      execArgv: ["--import", import.meta.resolve("tsx")],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      // One core per worker: libraries that start threads of their own would only get in each other's way.
      env: { ...process.env, OMP_NUM_THREADS: "1", LP_NUM_THREADS: process.env.LP_NUM_THREADS ?? "1" },
    });
    this.#child.on("message", (reply: HostReply) => this.#receive(reply));
    this.#child.on("error", (error) => this.#lose(error.message));
    this.#child.on("exit", (code, signal) =>
      this.#lose(signal ? `killed by ${signal}` : `ended with code ${code}`),
    );
    const request: OpenRequest = { settings, frameFile: this.#frames.path };
    this.#send("open", request).then(
      () => this.#frames.forget(),
      () => this.#frames.forget(), // a failure shows again in the first call
    );
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async call<M extends HostMethod>(method: M, argument: Arguments<M>): Promise<Answer<M>> {
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
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#hang(), 1000 * this.#timeout);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#child.send({ id, method, argument } satisfies HostRequest, (error) => {
        if (error) this.#lose(error.message);
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
    return new WorkerLost(`the env worker ${this.#lost}`, this.#hung);
  }

  #hang(): void {
    this.#hung = true;
    this.#lose(`gave no answer within ${this.#timeout} s`);
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
