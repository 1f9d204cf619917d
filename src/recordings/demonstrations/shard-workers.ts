/**
 * Runs shards in processes of their own, as many at a time as asked for.
 *
 * A process that dies takes its shard with it: the shard is tried once more in a new one, and because a shard's files
 * appear whole or not at all, nothing is lost or doubled.
 */
import { type ChildProcess, fork } from "node:child_process";
import { Late, UserError } from "#registry";
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
  /** Ends all workers and rejects, when somebody wants to stop. */
  readonly signal?: AbortSignal | undefined;
  /** Seconds without a word from a process that has a shard until it counts as hung; an hour where not said. */
  readonly silence?: number | undefined;
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
  { program, settings, shards, workers, signal, silence }: ShardRun<S>,
  onEpisode: (outcome: EpisodeOutcome) => void,
): Promise<ShardSummary[]> {
  const summaries: ShardSummary[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const worker = new ShardWorker(program, settings, silence);
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

class ShardWorker<S> {
  readonly #program: string;
  readonly #settings: S;
  readonly #silence: number;
  #process: ChildProcess | undefined;
  #over = false;

  constructor(program: string, settings: S, silence = 3600) {
    this.#program = program;
    this.#settings = settings;
    this.#silence = silence;
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
        const fixable = error instanceof UserError && !(error instanceof Late);
        if (attempt === attempts || fixable || this.#over) throw error;
        this.#process = undefined;
      }
    }
  }

  /**
   * Lets a process end by itself, which gives back what it holds on an accelerator; killed under CUDA's MPS it may never be gone. One that is
   * busy for longer than a few seconds is killed all the same. Nobody waits for it.
   */
  end(): void {
    const child = this.#process;
    if (!child || this.#over) return;
    this.#over = true;
    const late = setTimeout(() => child.kill("SIGKILL"), patience).unref();
    child.once("exit", () => clearTimeout(late));
    if (child.connected) child.disconnect();
    child.unref();
  }

  #attempt(shard: ShardJob, onEpisode: (outcome: EpisodeOutcome) => void): Promise<ShardSummary> {
    const child = (this.#process ??= this.#start());
    return new Promise((resolve, reject) => {
      const who = `the collecting process ${child.pid} of ${shard.path}`;
      const hang = (): void => {
        child.kill("SIGKILL");
        settle(() => reject(new Late(`${who} has said nothing for ${this.#silence} s`)));
      };
      let late = setTimeout(hang, 1000 * this.#silence);
      const onExit = (code: number | null, signal: string | null): void =>
        settle(() => reject(new Error(`${who} ended (${signal ?? `code ${code}`})`)));
      const onMessage = (message: FromWorker): void => {
        clearTimeout(late);
        late = setTimeout(hang, 1000 * this.#silence);
        if (message.kind === "episode") onEpisode(message.outcome);
        else if (message.kind === "done") settle(() => resolve(message.summary));
        else settle(() => reject(new UserError(message.message)));
      };
      const settle = (answer: () => void): void => {
        clearTimeout(late);
        child.off("message", onMessage).off("exit", onExit);
        answer();
      };
      child.on("message", onMessage).on("exit", onExit);
      child.send({ kind: "shard", shard } satisfies ToWorker<S>, () => {}); // a broken channel shows as the process's end
    });
  }

  #start(): ChildProcess {
    const child = fork(this.#program, { execArgv: ["--import", import.meta.resolve("tsx")] });
    child.send({ kind: "settings", settings: this.#settings } satisfies ToWorker<S>, () => {});
    child.on("error", () => {}); // likewise
    return child;
  }
}
