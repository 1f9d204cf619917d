/**
 * The caller's side of a worker, wherever it lives: who waits for which answer, until when, and what they are told when it is lost.
 *
 * A worker is lost once, for one reason, and everybody who waits hears that reason. One that hangs is ended, so that it cannot come back.
 */
import {
  type CallOptions,
  Late,
  type Patience,
  WorkerLost,
  type WorkerRef,
  type WorkerSpec,
  within,
} from "#registry";
import { type Call, errorOf, openMethod, orderOf, type Reply } from "./messages.ts";
import { SilenceWatch } from "./silence-watch.ts";

/** How one kind of worker is reached and ended. */
export interface Carrier {
  /** "thread", "process 123" */
  readonly place: string;
  readonly pid?: number | undefined;
  send(call: Call): void;
  pack(value: unknown): unknown;
  unpack(value: unknown): unknown;
  /** Nobody will call any more: it may end. */
  hangUp(): void;
  kill(): void;
  /** It does not end: this process need not wait for it. */
  giveUp(): void;
}

interface Waiting {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onEvent: ((event: unknown) => void) | undefined;
  readonly timer: NodeJS.Timeout | undefined;
}

/** Seconds that a killed worker has to end; one that is caught in a system call never does, and must not hold up the rest. */
const lastWords = 10;
/** Seconds until one that was stopped is killed. */
const defaultGrace = 5;

export class CalledWorker<W extends object> implements WorkerRef<W> {
  readonly ready: Promise<void>;
  readonly lost: Promise<WorkerLost>;
  readonly call: WorkerRef<W>["call"];
  readonly #name: string;
  readonly #patience: Patience;
  readonly #carrier: Carrier;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watch = new SilenceWatch(() => this.#fallSilent());
  readonly #gone: Promise<void>;
  #isReady = false;
  #next = 0;
  #loss: WorkerLost | undefined;
  #tellLost: (loss: WorkerLost) => void = () => {};
  #tellGone: () => void = () => {};

  constructor(spec: WorkerSpec, carrier: Carrier) {
    this.#name = spec.name;
    this.#patience = spec.patience ?? {};
    this.#carrier = carrier;
    this.lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
    this.#gone = new Promise((resolve) => {
      this.#tellGone = resolve;
    });
    this.call = ((method: string, argument: unknown, options: CallOptions<unknown> = {}) => {
      const send = () => this.#send(method, argument, { deadline: this.#patience.answer, ...options });
      return this.#isReady ? send() : this.ready.then(send); // the time that it takes to start is not the call's
    }) as WorkerRef<W>["call"];
    this.ready = this.#open(spec);
    this.ready.catch(() => this.kill()); // told to whoever calls
  }

  get pid(): number | undefined {
    return this.#carrier.pid;
  }

  async stop(grace = defaultGrace): Promise<void> {
    this.lose("was stopped");
    this.#carrier.hangUp();
    const late = setTimeout(() => this.#carrier.kill(), 1000 * grace).unref();
    await this.#gone;
    clearTimeout(late);
  }

  async kill(): Promise<void> {
    this.lose("was closed");
    this.#carrier.kill();
    await within(this.#gone, lastWords, "no end").catch((error: unknown) => {
      if (!(error instanceof Late)) throw error;
      this.#carrier.giveUp();
    });
  }

  receive(reply: Reply): void {
    this.#watch.sign();
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    if ("event" in reply) {
      waiting.onEvent?.(reply.event);
      return;
    }
    this.#waiting.delete(reply.id);
    clearTimeout(waiting.timer);
    if (this.#waiting.size === 0) this.#watch.end();
    try {
      if ("value" in reply) waiting.resolve(this.#carrier.unpack(reply.value));
      else waiting.reject(errorOf(reply.failure));
    } catch (error) {
      waiting.reject(error);
    }
  }

  /** Every call fails from now on, for this reason. */
  lose(why: string, { hung = false, cause }: { hung?: boolean; cause?: unknown } = {}): void {
    if (this.#loss) return;
    this.#loss = new WorkerLost(`the ${this.#name} (${this.#carrier.place}) ${why}`, { hung, cause });
    this.#watch.end();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(this.#loss);
    }
    this.#waiting.clear();
    this.#tellLost(this.#loss);
  }

  /** Its thread or process has ended. */
  end(why: string): void {
    this.lose(why);
    this.#tellGone();
  }

  async #open(spec: WorkerSpec): Promise<void> {
    await this.#send(openMethod, orderOf(spec), { deadline: this.#patience.start });
    this.#isReady = true;
  }

  #send(method: string, argument: unknown, options: CallOptions<unknown>): Promise<unknown> {
    if (this.#loss) return Promise.reject(this.#loss);
    const { deadline, urgent, onEvent } = options;
    const silent = method === openMethod ? "did not start" : `gave no answer to "${method}"`;
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#carrier.send({ id, method, argument: this.#carrier.pack(argument), urgent });
      const hang = (): void => this.#hang(`${silent} within ${deadline} s`);
      const timer = deadline === undefined ? undefined : setTimeout(hang, 1000 * deadline);
      const { silence } = this.#patience;
      if (silence !== undefined && this.#waiting.size === 0) this.#watch.begin(silence);
      this.#waiting.set(id, { method, resolve, reject, onEvent, timer });
    });
  }

  #fallSilent(): void {
    const calls = [...this.#waiting.values()].map(({ method }) => method).join(", ");
    this.#hang(`gave no sign of life for ${this.#patience.silence} s (${calls})`);
  }

  #hang(why: string): void {
    this.lose(why, { hung: true });
    this.#carrier.kill();
  }
}
