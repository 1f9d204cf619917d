/**
 * What a refreshing worker is told and what it answers, and the starting of one.
 *
 * A process of its own, because learning a world takes memory that the run wants back, on an accelerator most of all, and because a
 * refresh that fails must not take the run with it.
 */
import { processLauncher } from "#cluster";
import type { Device } from "#tensor";
import type { RefreshSettings } from "#world-training";
import type { Refresher } from "./refresher.ts";
import type { Meters } from "./rounds.ts";

export interface RefreshOrder {
  readonly world: string;
  /** The folder to make; absent: the world is only measured. */
  readonly candidate?: string | undefined;
  /** Recordings that the world was made from, and how many of their episodes are learned again; all if absent. */
  readonly old: readonly string[];
  readonly oldEpisodes?: number | undefined;
  /** Recordings of this run's rounds. */
  readonly fresh: readonly string[];
  readonly exam: string;
  /** `env.train`, with its world in `world`. */
  readonly section: Readonly<Record<string, unknown>>;
  readonly device: Device;
  readonly settings: RefreshSettings;
}

export interface RefreshAnswer {
  readonly accepted: boolean;
  readonly reason: string;
  readonly before: Meters;
  readonly after?: Meters;
}

export interface RefreshProgress {
  readonly what: string;
  readonly done: number;
  readonly total: number;
}

const refresher = { module: new URL("./refresher.ts", import.meta.url).href, factory: "openRefresher" };

/** Seconds without a word from the refreshing worker until it counts as hung; a batch of an exam may take long on a CPU. */
const silence = 3600;

/** `signal` ends the process, and the promise rejects. */
export async function refreshApart(
  order: RefreshOrder,
  onProgress: (progress: RefreshProgress) => void,
  signal?: AbortSignal,
): Promise<RefreshAnswer> {
  signal?.throwIfAborted();
  const spec = { ...refresher, name: "refreshing worker", options: undefined, patience: { silence } };
  const worker = processLauncher.start<Refresher>(spec);
  const end = (): void => void worker.stop();
  signal?.addEventListener("abort", end);
  try {
    return await worker.call("refresh", order, { onEvent: onProgress });
  } catch (error) {
    signal?.throwIfAborted(); // it ended because it was told to
    throw error;
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}
