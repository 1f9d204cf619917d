/** CUDA: memory statistics, streams, events, and graphs that replay a captured piece of work in one launch. */
import { UserError } from "#registry";
import { addon, type DeviceMemory, type TorchAddon } from "./addon.ts";
import type { Generator } from "./generator.ts";
import type { Tensor } from "./tensor.ts";

type CudaAddon = Required<TorchAddon>;

function cuda(): CudaAddon {
  if (addon.cudaMemory === undefined) {
    throw new UserError("this build has no CUDA; fetch one with: REVERIE_TORCH_BUILD=cuda npm run native");
  }
  return addon as CudaAddon;
}

/** Bytes on a device; `resetPeaks` begins a new measurement. */
export const deviceMemory = (device = 0, resetPeaks = false): DeviceMemory =>
  cuda().cudaMemory(device, resetPeaks);

/** Gives cached, unused blocks back to the driver. */
export const emptyCache = (): void => cuda().cudaEmptyCache();

/** The stream that work goes to now; −1 is the default one. */
let currentStream = -1;

function useStream(id: number): void {
  cuda().streamUse(id);
  currentStream = id;
}

export class Stream {
  readonly #id: number;

  constructor({ highPriority = false } = {}) {
    this.#id = cuda().streamNew(highPriority);
  }
  /** Work issued inside `body` goes to this stream; afterwards the stream before is current again. */
  run<T>(body: () => T): T {
    const before = currentStream;
    useStream(this.#id);
    try {
      return body();
    } finally {
      useStream(before);
    }
  }
  synchronize(): void {
    cuda().streamSynchronize(this.#id);
  }
  /** Waits without blocking this thread. */
  synchronized(): Promise<void> {
    return cuda().streamSynchronizeAsync(this.#id);
  }
  /** Tells the allocator that this stream uses a tensor made on another. */
  uses(tensor: Tensor): void {
    cuda().streamRecord(tensor.handle, this.#id);
  }
}

/** A point in a stream's work: to wait for, or to measure from. */
export class Event {
  readonly #id: number = cuda().eventNew();

  record(): this {
    cuda().eventRecord(this.#id);
    return this;
  }
  /** Makes the current stream wait for it. */
  wait(): void {
    cuda().eventWait(this.#id);
  }
  get done(): boolean {
    return cuda().eventDone(this.#id);
  }
  /** Milliseconds from this event to a later one; blocks until that one is done. */
  elapsed(later: Event): number {
    return cuda().eventElapsed(this.#id, later.#id);
  }
}

/**
 * Two pieces of work side by side, for small ones that do not fill the GPU alone. The second goes to a stream of its
 * own and both are done, for whatever is issued afterwards, when `run` returns; it can be captured in a graph.
 */
export class Fork {
  readonly #side = new Stream();
  readonly #begin = new Event();
  readonly #end = new Event();

  run<A, B>(first: () => A, second: () => B): [A, B] {
    this.#begin.record();
    const beside = this.#side.run(() => {
      this.#begin.wait();
      const result = second();
      this.#end.record();
      return result;
    });
    const here = first();
    this.#end.wait();
    return [here, beside];
  }
}

/** Runs `body`, then `end`. An error of `body` makes the capture itself invalid: `end` must run, but its complaint is not the cause. */
function recorded<T>(body: () => T, end: () => void): T {
  let result: T;
  try {
    result = body();
  } catch (error) {
    try {
      end();
    } catch {}
    throw error;
  }
  end();
  return result;
}

export interface CaptureOptions {
  /** Runs before the capture, so that lazy initialization happens outside it. */
  readonly warmups?: number;
  /** A graph captured earlier whose memory may be reused: the two must never run at the same time. */
  readonly shareMemoryWith?: Graph;
  /** Generators used inside, so that replays draw fresh numbers. */
  readonly generators?: readonly Generator[];
}

/**
 * A captured piece of GPU work. Inputs and outputs are fixed tensors: write new values into the inputs with
 * `copy_`, replay, read the outputs. Forward passes and whole training steps can be captured.
 */
export class Graph {
  readonly #id: number;

  private constructor(id: number) {
    this.#id = id;
  }

  /** Captures what `body` does and returns its result's tensors, which every replay overwrites. */
  static capture<T>(
    body: () => T,
    { warmups = 3, shareMemoryWith, generators = [] }: CaptureOptions = {},
  ): { graph: Graph; result: T } {
    const stream = new Stream();
    addon.deviceSynchronize();
    stream.run(() => {
      for (let i = 0; i < warmups; i++) body();
    });
    addon.deviceSynchronize();
    const graph = new Graph(cuda().graphNew());
    for (const generator of generators) cuda().graphUseGenerator(graph.#id, generator.handle);
    const result = stream.run(() => {
      cuda().graphBegin(graph.#id, shareMemoryWith === undefined ? undefined : shareMemoryWith.#id);
      return recorded(body, () => cuda().graphEnd(graph.#id));
    });
    addon.deviceSynchronize();
    return { graph, result };
  }

  replay(): void {
    cuda().graphReplay(this.#id);
  }
  dispose(): void {
    cuda().graphDispose(this.#id);
  }
}
