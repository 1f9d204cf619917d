/**
 * Collectives between ranks over torch's own c10d: a store for the rendezvous, Gloo on CPU, NCCL on GPU.
 *
 * Ranks that are threads of one process meet in a store in its memory. Ranks in several processes meet at a port of the
 * loopback interface; nothing listens where another machine could reach it, because c10d asks nobody for a password.
 * Wire-compatible with Python: a Node rank and a rank started by torch.distributed.init_process_group can share a
 * group, because the store's key prefixes are the same. A rank that dies makes the others fail with an error within
 * the time-out instead of waiting for ever.
 */
import { UserError } from "#registry";
import { addon } from "./addon.ts";
import type { Tensor } from "./tensor.ts";

export type Backend = "gloo" | "nccl";
export type Reduction = "sum" | "avg" | "product" | "min" | "max";

/** c10d's numbers for them. */
const reductionCodes: Record<Reduction, number> = { sum: 0, avg: 1, product: 2, min: 3, max: 4 };

/** Threads of one process meet under a name that only they know. */
export interface MeetInProcess {
  readonly name: string;
}

/** Processes of this machine meet at a port of 127.0.0.1, where rank 0 listens; it may ask for port 0 and tell the others which it got. */
export interface MeetOnLoopback {
  readonly port: number;
  readonly onListening?: (port: number) => void;
}

export interface GroupOptions {
  readonly backend: Backend;
  readonly meet: MeetInProcess | MeetOnLoopback;
  readonly rank: number;
  readonly worldSize: number;
  /** Milliseconds after which a rendezvous or a collective fails. */
  readonly timeoutMs?: number;
}

/** A rank could not do its part with the others: most often because another one failed. */
export class PeerLost extends UserError {
  override name = "PeerLost";
}

const explain =
  (what: string, { rank, worldSize, meet }: GroupOptions) =>
  (cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    const where = "name" in meet ? "in one process" : `127.0.0.1:${meet.port}`;
    throw new PeerLost(`${what} failed on rank ${rank} of ${worldSize} (${where}): ${reason}`, { cause });
  };

/** The store in which ranks find each other. */
async function openStore({ meet, rank, worldSize }: GroupOptions, timeoutMs: number): Promise<number> {
  if ("name" in meet) return addon.storeInProcess(meet.name, timeoutMs);
  if (rank !== 0) return addon.storeTcp(meet.port, worldSize, -1, timeoutMs);
  const { descriptor, port } = addon.storeListen(meet.port);
  meet.onListening?.(port);
  return addon.storeTcp(port, worldSize, descriptor, timeoutMs);
}

export class ProcessGroup {
  readonly rank: number;
  readonly worldSize: number;
  readonly #group: number;
  readonly #stores: readonly number[];
  readonly #options: GroupOptions;

  private constructor(group: number, stores: readonly number[], options: GroupOptions) {
    this.#group = group;
    this.#stores = stores;
    this.#options = options;
    this.rank = options.rank;
    this.worldSize = options.worldSize;
  }

  /** Meets the other ranks; rank 0 also serves the store. */
  static async join(options: GroupOptions): Promise<ProcessGroup> {
    const { backend, rank, worldSize, timeoutMs = 300_000 } = options;
    const failed = explain(`joining the ${backend} group`, options);
    const stores = [await openStore(options, timeoutMs).catch(failed)];
    // the prefixes under which init_process_group keeps the default group of a device
    for (const prefix of ["default_pg", "0/", backend === "nccl" ? "cuda/" : "cpu/"]) {
      stores.push(addon.storePrefix(stores[stores.length - 1] as number, prefix));
    }
    const inner = stores[stores.length - 1] as number;
    const group = await addon.groupNew(backend, inner, rank, worldSize, timeoutMs).catch(failed);
    return new ProcessGroup(group, stores, options);
  }

  /** Every rank's tensor becomes the reduction of all. */
  allReduce(tensor: Tensor, reduction: Reduction = "sum"): Promise<void> {
    if (reduction === "avg" && this.#options.backend === "gloo") {
      return this.#run("all_reduce", tensor, null, reductionCodes.sum).then(() => {
        tensor.div_(this.worldSize);
      });
    }
    return this.#run("all_reduce", tensor, null, reductionCodes[reduction]);
  }
  /** Every rank's tensor becomes the root's. */
  broadcast(tensor: Tensor, root = 0): Promise<void> {
    return this.#run("broadcast", tensor, null, root);
  }
  /** `out` is the ranks' tensors one after the other. */
  allGather(out: Tensor, input: Tensor): Promise<void> {
    return this.#run("all_gather", out, input, 0);
  }
  /** `out` is this rank's part of the sum of all inputs. */
  reduceScatter(out: Tensor, input: Tensor, reduction: Reduction = "sum"): Promise<void> {
    return this.#run("reduce_scatter", out, input, reductionCodes[reduction]);
  }
  /** As `allGather`, and this thread waits for it: for work that cannot be interrupted, such as a pass through layers. */
  allGatherNow(out: Tensor, input: Tensor): void {
    this.#runNow("all_gather", out, input, 0);
  }
  /** As `reduceScatter`, and this thread waits for it. */
  reduceScatterNow(out: Tensor, input: Tensor, reduction: Reduction = "sum"): void {
    this.#runNow("reduce_scatter", out, input, reductionCodes[reduction]);
  }
  send(tensor: Tensor, to: number): Promise<void> {
    return this.#run("send", tensor, null, to);
  }
  receive(tensor: Tensor, from: number): Promise<void> {
    return this.#run("recv", tensor, null, from);
  }
  barrier(): Promise<void> {
    return this.#run("barrier", null, null, 0);
  }

  /** A small value under a name that every rank can read; `readValue` waits for it. */
  publish(name: string, value: string): Promise<void> {
    return addon.storeSet(this.#stores[0] as number, name, value);
  }
  readValue(name: string): Promise<string> {
    return addon.storeGet(this.#stores[0] as number, name);
  }

  close(): void {
    addon.groupClose(this.#group);
    for (const store of this.#stores) addon.storeClose(store);
  }

  async #run(kind: string, out: Tensor | null, input: Tensor | null, x: number): Promise<void> {
    try {
      await addon.collectiveWaitAsync(this.#start(kind, out, input, x));
    } catch (cause) {
      explain(kind, this.#options)(cause);
    }
  }

  #runNow(kind: string, out: Tensor, input: Tensor, x: number): void {
    try {
      addon.collectiveWait(this.#start(kind, out, input, x));
    } catch (cause) {
      explain(kind, this.#options)(cause);
    }
  }

  #start(kind: string, out: Tensor | null, input: Tensor | null, x: number): number {
    const timeout = this.#options.timeoutMs ?? 300_000;
    return addon.collective(this.#group, kind, out?.handle ?? 0, input?.handle ?? 0, x, timeout);
  }
}
