/**
 * Runs shards in processes of their own, as many at a time as asked for.
 *
 * A process that dies takes its shard with it: the shard is tried once more in a new one, and because a shard's files
 * appear whole or not at all, nothing is lost or doubled.
 */
import { type ChildProcess, fork } from "node:child_process";
import { UserError } from "#registry";
import type { EpisodeJob } from "./begin-job.ts";
import type { EpisodeOutcome, ShardSummary } from "./collect-shard.ts";

export interface ShardJob {
  readonly path: string;
  readonly jobs: readonly EpisodeJob[];
}

export interface ShardRun<S> {
  /** The file that a worker runs; it is told the settings first. */
  readonly program: string;
  readonly settings: S;
  readonly shards: readonly ShardJob[];
  readonly workers: number;
}

/** To a worker: first its settings, then one shard after another. */
export type ToWorker<S> =
  | { readonly kind: "settings"; readonly settings: S }
  | { readonly kind: "shard"; readonly shard: ShardJob };
/** From a worker: each episode as it ends, then the shard's summary, or what the user can mend. */
export type FromWorker =
  | { readonly kind: "episode"; readonly outcome: EpisodeOutcome }
  | { readonly kind: "done"; readonly summary: ShardSummary }
  | { readonly kind: "user-error"; readonly message: string };

const attempts = 2;
/** Milliseconds after which a process that should have ended is killed. */
const patience = 5000;

export async function runShards<S>(
  { program, settings, shards, workers }: ShardRun<S>,
  onEpisode: (outcome: EpisodeOutcome) => void,
): Promise<ShardSummary[]> {
  const summaries: ShardSummary[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const worker = new ShardWorker(program, settings);
    try {
      for (let index = next++; index < shards.length; index = next++)
        summaries[index] = await worker.run(shards[index]!, onEpisode);
    } catch (error) {
      worker.kill();
      throw error;
    }
    worker.end();
  };
  await Promise.all(Array.from({ length: Math.min(workers, shards.length) }, work));
  return summaries;
}

class ShardWorker<S> {
  readonly #program: string;
  readonly #settings: S;
  #process: ChildProcess | undefined;

  constructor(program: string, settings: S) {
    this.#program = program;
    this.#settings = settings;
  }

  async run(shard: ShardJob, onEpisode: (outcome: EpisodeOutcome) => void): Promise<ShardSummary> {
    let reported = 0; // a second attempt repeats its episodes exactly; they are told once
    for (let attempt = 1; ; attempt++) {
      let seen = 0;
      try {
        return await this.#attempt(shard, (outcome) => {
          if (++seen <= reported) return;
          reported = seen;
          onEpisode(outcome);
        });
      } catch (error) {
        if (attempt === attempts || error instanceof UserError) throw error;
        this.#process = undefined;
      }
    }
  }

  kill(): void {
    this.#process?.kill();
  }

  /**
   * Lets an idle process end by itself, which gives back what it holds on an accelerator; killed under CUDA's MPS it may never be gone.
   * Nobody waits for it.
   */
  end(): void {
    const child = this.#process;
    if (!child) return;
    const late = setTimeout(() => child.kill("SIGKILL"), patience).unref();
    child.once("exit", () => clearTimeout(late));
    if (child.connected) child.disconnect();
    child.unref();
  }

  #attempt(shard: ShardJob, onEpisode: (outcome: EpisodeOutcome) => void): Promise<ShardSummary> {
    const child = (this.#process ??= this.#start());
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null, signal: string | null): void => {
        reject(new Error(`a collecting process ended (${signal ?? `code ${code}`}) in ${shard.path}`));
      };
      const onMessage = (message: FromWorker): void => {
        if (message.kind === "episode") {
          onEpisode(message.outcome);
          return;
        }
        child.off("message", onMessage).off("exit", onExit);
        if (message.kind === "done") resolve(message.summary);
        else reject(new UserError(message.message));
      };
      child.on("message", onMessage).on("exit", onExit);
      child.send({ kind: "shard", shard } satisfies ToWorker<S>);
    });
  }

  #start(): ChildProcess {
    const child = fork(this.#program, { execArgv: ["--import", import.meta.resolve("tsx")] });
    child.send({ kind: "settings", settings: this.#settings } satisfies ToWorker<S>);
    return child;
  }
}
