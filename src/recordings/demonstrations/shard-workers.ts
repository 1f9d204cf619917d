/**
 * Has shards made by workers, as many at a time as asked for.
 *
 * A worker that is lost takes its shard with it: the shard is tried once more by a new one, and because a shard's files
 * appear whole or not at all, nothing is lost or doubled.
 */
import { type Launcher, UserError, type WorkerRef, type WorkerSpec } from "#registry";
import type { ShardJob } from "./begin-job.ts";
import type { EpisodeOutcome, ShardMaker, ShardSummary } from "./collect-shard.ts";

export interface ShardRun {
  /** The worker that makes shards, a `ShardMaker`, and who starts it. */
  readonly maker: WorkerSpec;
  readonly launcher: Launcher;
  readonly shards: readonly ShardJob[];
  readonly workers: number;
  /** Ends all workers and rejects, when somebody wants to stop. */
  readonly signal?: AbortSignal | undefined;
}

const attempts = 2;
/** Seconds without a word from a worker that has a shard until it counts as hung. */
const silence = 3600;

export async function runShards(
  { maker, launcher, shards, workers, signal }: ShardRun,
  onEpisode: (outcome: EpisodeOutcome) => void,
): Promise<ShardSummary[]> {
  const summaries: ShardSummary[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const worker = new ShardWorker(launcher, { patience: { silence }, ...maker });
    const stop = (): void => worker.end();
    signal?.addEventListener("abort", stop);
    try {
      for (let index = next++; index < shards.length; index = next++) {
        signal?.throwIfAborted();
        summaries[index] = await worker.run(shards[index]!, onEpisode);
      }
    } catch (error) {
      next = shards.length; // the others finish what they are at, and begin nothing
      signal?.throwIfAborted(); // it ended because it was told to
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
      worker.end();
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, shards.length) }, work));
  return summaries;
}

class ShardWorker {
  readonly #launcher: Launcher;
  readonly #spec: WorkerSpec;
  #worker: WorkerRef<ShardMaker> | undefined;
  #over = false;

  constructor(launcher: Launcher, spec: WorkerSpec) {
    this.#launcher = launcher;
    this.#spec = spec;
  }

  async run(shard: ShardJob, onEpisode: (outcome: EpisodeOutcome) => void): Promise<ShardSummary> {
    let reported = 0; // a second attempt repeats its episodes exactly; they are told once
    for (let attempt = 1; ; attempt++) {
      let seen = 0;
      const onEvent = (outcome: EpisodeOutcome): void => {
        if (++seen <= reported) return;
        reported = seen;
        onEpisode(outcome);
      };
      this.#worker ??= this.#launcher.start<ShardMaker>(this.#spec);
      try {
        return await this.#worker.call("collect", shard, { onEvent });
      } catch (error) {
        if (attempt === attempts || error instanceof UserError || this.#over) throw error;
        void this.#worker.kill();
        this.#worker = undefined;
      }
    }
  }

  /** Nobody waits for it. */
  end(): void {
    this.#over = true;
    void this.#worker?.stop();
  }
}
