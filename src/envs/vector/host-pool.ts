/**
 * Spreads slots over hosts and survives the loss of any of them.
 *
 * After every chunk the pool holds each slot's snapshot. When a worker is lost, a new one gets the snapshots of its slots
 * and the request that was under way; since a world is a function of its snapshot and its actions, the answer is the one
 * that the lost worker would have given.
 */
import { type Launcher, type Patience, UserError, WorkerLost, type WorkerRef } from "#registry";
import {
  type ChunkSight,
  type HostSettings,
  type Sight,
  type SlotChunk,
  SlotHost,
  type SlotSnapshot,
  type SlotStart,
  slotHostProgram,
} from "#simulators";

type HostMethod = "begin" | "chunk" | "restore";
type HostLink = Pick<WorkerRef<SlotHost>, "call" | "kill" | "pid">;

export interface PoolOptions {
  readonly slots: number;
  /** How many hosts elsewhere; 0 simulates here. */
  readonly workers: number;
  readonly patience: Patience;
  /** Starts them. */
  readonly launcher?: Launcher | undefined;
  /** Told when a worker was lost and replaced. */
  readonly say?: ((line: string) => void) | undefined;
}

/** A request that costs this many workers in a row, or this many time-outs, is not bad luck. */
const mostLosses = 20;
const mostHangs = 3;

export class HostPool {
  readonly #settings: HostSettings;
  readonly #options: PoolOptions;
  readonly #links: HostLink[];
  readonly #snapshots = new Map<number, SlotSnapshot>();
  #closed = false;
  /** Workers lost and replaced so far. */
  losses = 0;

  constructor(settings: HostSettings, options: PoolOptions) {
    this.#settings = settings;
    this.#options = options;
    const count = Math.max(1, Math.min(options.workers, options.slots));
    this.#links = Array.from({ length: count }, () => this.#open());
  }

  async begin(starts: readonly SlotStart[]): Promise<Sight[]> {
    const sights = await this.#spread<SlotStart, Sight>("begin", starts);
    for (const [i, { slot, task }] of starts.entries())
      this.#snapshots.set(slot, { slot, task, snapshot: sights[i]!.snapshot });
    return sights;
  }

  async chunk(requests: readonly SlotChunk[]): Promise<ChunkSight[]> {
    const sights = await this.#spread<SlotChunk, ChunkSight>("chunk", requests);
    for (const [i, { slot }] of requests.entries())
      this.#snapshots.set(slot, { ...this.#snapshots.get(slot)!, snapshot: sights[i]!.snapshot });
    return sights;
  }

  /** Puts slots where they were when these snapshots were taken. */
  async restore(snapshots: readonly SlotSnapshot[]): Promise<void> {
    for (const snapshot of snapshots) this.#snapshots.set(snapshot.slot, snapshot);
    await Promise.all(this.#links.map((_, worker) => this.#restoreWorker(worker)));
  }

  snapshot(slot: number): SlotSnapshot | undefined {
    return this.#snapshots.get(slot);
  }

  /** Process ids of the workers, for those who test what happens when one dies. */
  get pids(): number[] {
    return this.#links.flatMap(({ pid }) => pid ?? []);
  }

  close(): void {
    this.#closed = true;
    for (const link of this.#links) void link.kill(); // it holds nothing that needs saving
  }

  #open(): HostLink {
    const { workers, patience, launcher } = this.#options;
    if (workers === 0) return hostHere(this.#settings);
    if (!launcher)
      throw new UserError(`env_workers is ${workers}, but this env was given no launcher; set it to 0`);
    return launcher.start<SlotHost>({
      ...slotHostProgram,
      name: "env worker",
      options: this.#settings,
      patience,
      threads: 1, // more would only get in each other's way
      lendsBytes: true,
    });
  }

  /** Neighboring slots share a worker: a group plays one task, which is then compiled in one place. */
  #workerOf(slot: number): number {
    return Math.floor((slot * this.#links.length) / this.#options.slots);
  }

  async #spread<R extends { slot: number }, S>(method: HostMethod, requests: readonly R[]): Promise<S[]> {
    const answers = new Map<number, S>();
    const ask = async (_: HostLink, worker: number) => {
      const own = requests.filter(({ slot }) => this.#workerOf(slot) === worker);
      if (own.length === 0) return;
      const sights = (await this.#ask(worker, method, own)) as S[];
      for (const [i, { slot }] of own.entries()) answers.set(slot, sights[i]!);
    };
    await Promise.all(this.#links.map(ask));
    return requests.map(({ slot }) => answers.get(slot)!);
  }

  async #ask(worker: number, method: HostMethod, argument: unknown): Promise<unknown> {
    for (let losses = 0, hangs = 0; ; losses++) {
      try {
        if (losses > 0) await this.#restoreWorker(worker);
        return await this.#links[worker]!.call(method, argument as never);
      } catch (error) {
        if (!(error instanceof WorkerLost) || this.#closed) throw error; // a closed pool replaces nobody
        if (losses === mostLosses || (hangs += Number(error.hung)) === mostHangs)
          throw new UserError(
            `${error.message}, ${losses + 1} times in a row at the same request; the run cannot go on`,
          );
        this.#replace(worker, error);
      }
    }
  }

  #replace(worker: number, { message }: WorkerLost): void {
    this.losses++;
    this.#options.say?.(
      `${message}; worker ${worker} is replaced and its slots go on from their last snapshots`,
    );
    void this.#links[worker]!.kill();
    this.#links[worker] = this.#open();
  }

  async #restoreWorker(worker: number): Promise<void> {
    const own = [...this.#snapshots.values()].filter(({ slot }) => this.#workerOf(slot) === worker);
    if (own.length > 0) await this.#links[worker]!.call("restore", own);
  }
}

/** Simplest, and enough for one core. */
function hostHere(settings: HostSettings): HostLink {
  const host = new SlotHost(settings);
  const call = async (method: HostMethod, argument: never): Promise<unknown> => host[method](argument);
  return { pid: undefined, call: call as HostLink["call"], kill: async () => host.dispose() };
}
