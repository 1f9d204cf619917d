/**
 * What a worker is, to those who start and call it: an object made elsewhere, whose methods answer promises.
 *
 * A worker is described by a module, the function in it that makes the object, and options that can be cloned. Where it lives is its
 * launcher's business (#cluster has one for threads and one for processes); everybody else holds a reference, which calls methods, hears
 * what they tell meanwhile, and says when the worker is lost. A method takes one argument and, where it has something to tell before
 * its answer, a function: `collect(shard, tell)`.
 */
/** A module's URL and the exported function that makes the worker from its options. */
export interface WorkerProgram {
  readonly module: string;
  readonly factory: string;
}

export interface WorkerSpec extends WorkerProgram {
  /** What it is called in messages: "env worker". */
  readonly name: string;
  readonly options: unknown;
  /** Here, if absent. */
  readonly place?: LaunchPlace | undefined;
  readonly patience?: Patience | undefined;
  /** Threads that its libraries may start; theirs to decide, if absent. */
  readonly threads?: number | undefined;
  /** Large byte arrays in its answers are not copied into messages: they are views of memory that its next answer overwrites. */
  readonly lendsBytes?: boolean | undefined;
}

/** Which machine of the cluster, and which of its accelerators. */
export interface LaunchPlace {
  readonly node: number;
  readonly devices: readonly number[];
}

/** Seconds after which a worker counts as hung; without an entry nobody looks. */
export interface Patience {
  /** Until it is made. */
  readonly start?: number | undefined;
  /** Until a call is answered. */
  readonly answer?: number | undefined;
  /** Without any sign of life while a call is unanswered: what it tells, and the heartbeat of a thread. */
  readonly silence?: number | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: any method may be called from afar
type Method = (argument: any, tell: (event: any) => void) => unknown;
export type Methods = Readonly<Record<string, Method>>;

type EventOf<F> = F extends (argument: never, tell: (event: infer E) => void) => unknown ? E : never;
type CallArguments<F> = F extends () => unknown
  ? [argument?: undefined, options?: CallOptions<never>]
  : F extends (argument: infer A, ...tell: never[]) => unknown
    ? [argument: A, options?: CallOptions<EventOf<F>>]
    : never;

export interface CallOptions<E> {
  /** Seconds for this answer, instead of the worker's patience. */
  readonly deadline?: number | undefined;
  /** Calls are answered one after the other; an urgent one does not wait for those before it. */
  readonly urgent?: boolean | undefined;
  /** Hears what the method tells: plain data. */
  readonly onEvent?: ((event: E) => void) | undefined;
}

export interface WorkerRef<W extends object> {
  /** The process of its own that it lives in. */
  readonly pid: number | undefined;
  /** Resolves when it is made; rejects with what its maker threw, or `WorkerLost`. Calls wait for it. */
  readonly ready: Promise<void>;
  /** Why it is gone, once it is, also when it was ended from here. */
  readonly lost: Promise<WorkerLost>;
  call<K extends keyof W & string>(
    method: K,
    ...rest: CallArguments<W[K]>
  ): Promise<W[K] extends (...args: never[]) => infer R ? Awaited<R> : never>;
  /** Lets it end by itself, which gives back what it holds on an accelerator; killed under CUDA's MPS it may never be gone. Kills it after `grace` seconds. */
  stop(grace?: number): Promise<void>;
  /** Ends it now. */
  kill(): Promise<void>;
}

export interface Launcher {
  /** Returns at once; whether it works out is told by `ready` and by the first call. */
  start<W extends object>(spec: WorkerSpec): WorkerRef<W>;
}

/** A worker is gone, with all that it was doing: its thread or process ended, or it hung and was ended for that. */
export class WorkerLost extends Error {
  override name = "WorkerLost";
  /** It lived and did not answer in time. */
  readonly hung: boolean;

  constructor(message: string, { hung, cause }: { readonly hung: boolean; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.hung = hung;
  }
}
