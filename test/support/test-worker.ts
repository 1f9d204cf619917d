/** A worker for tests of threads and processes. */
import { setTimeout as sleep } from "node:timers/promises";
import { Late, loadedPlugins, UserError } from "#registry";
import { PeerLost, type Tensor } from "#tensor";

const failures: Readonly<Record<string, () => Error>> = {
  user: () => new UserError("your fault"),
  late: () => new Late("too late"),
  peer: () => new PeerLost("all_reduce failed"),
  bug: () => new Error("internal: ours"),
  disk: () => Object.assign(new Error("ENOSPC: write"), { code: "ENOSPC", syscall: "write" }),
};

export async function makeTestWorker({ extra = 0, fault }: { extra?: number; fault?: string }) {
  if (fault !== undefined) throw failures[fault]!();
  return new TestWorker(extra);
}

export class TestWorker {
  readonly #extra: number;
  #last = Promise.resolve("nothing");

  constructor(extra: number) {
    this.#extra = extra;
  }

  add({ x, y }: { x: Tensor; y: number }): Map<string, Tensor> {
    const sum = x.add(y + this.#extra);
    x.select(0, 0).fill_(2); // seen by the sender: the memory is shared
    return new Map([["sum", sum]]);
  }
  fail(kind: string): void {
    throw failures[kind]!();
  }
  async count(to: number, tell: (number: number) => void): Promise<string> {
    for (let i = 1; i <= to; i++) tell(i);
    return `${to} told`;
  }
  async nap(milliseconds: number): Promise<string> {
    this.#last = sleep(milliseconds, "slept");
    return this.#last;
  }
  /** Hangs with an event loop that stands still. */
  spin(milliseconds: number): void {
    for (const end = performance.now() + milliseconds; performance.now() < end; );
  }
  die(code: number): void {
    process.exit(code);
  }
  whoAmI(): number {
    return process.pid;
  }
  pictures({ side, count }: { side: number; count: number }) {
    return Array.from({ length: count }, (_, i) => ({
      main: new Uint8Array(side * side * 3).fill(i),
      wrist: undefined,
      film: [new Uint8Array(side * side * 3).fill(100 + i)],
      state: Float64Array.of(i, -0.5),
      words: ["a", "b"],
    }));
  }
  plugins(): readonly string[] {
    return loadedPlugins().map(({ path }) => path);
  }
}
