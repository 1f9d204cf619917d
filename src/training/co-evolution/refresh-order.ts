/**
 * What a refreshing process is told and what it answers, and the starting of one.
 *
 * A process of its own, because learning a world takes memory that the run wants back, on an accelerator most of all, and because a
 * refresh that fails must not take the run with it.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Late, UserError } from "#registry";
import type { Device } from "#tensor";
import type { RefreshSettings } from "#world-training";
import type { Meters } from "./rounds.ts";

export interface RefreshOrder {
  readonly world: string;
  /** The folder to make; absent: the world is only measured. */
  readonly candidate?: string | undefined;
  /** Recordings that the world was made from, and how many of their episodes are learnt again; all if absent. */
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

export type FromRefresher =
  | { readonly kind: "progress"; readonly what: string; readonly done: number; readonly total: number }
  | { readonly kind: "done"; readonly answer: RefreshAnswer }
  | { readonly kind: "failed"; readonly message: string; readonly isUserError: boolean };

const program = fileURLToPath(new URL("./refresh-process.ts", import.meta.url));

/** Seconds without a word from the refreshing process until it counts as hung; a batch of an exam may take long on a CPU. */
const silence = 3600;
/** Milliseconds that it has to give back what it holds on an accelerator; killed under CUDA's MPS it may never be gone. */
const patience = 5000;

/** `signal` ends the process, and the promise rejects. */
export function refreshApart(
  order: RefreshOrder,
  onProgress: (what: string, done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<RefreshAnswer> {
  const child = fork(program, [], {
    serialization: "advanced", // shares of nothing are NaN
    execArgv: ["--import", import.meta.resolve("tsx")],
  });
  const end = (): void => {
    const late = setTimeout(() => child.kill("SIGKILL"), patience).unref();
    child.once("exit", () => clearTimeout(late));
    if (child.connected) child.disconnect();
    child.unref();
  };
  let late: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  return new Promise<RefreshAnswer>((resolve, reject) => {
    const hang = (): void => {
      child.kill("SIGKILL");
      reject(new Late(`the run waited for the refreshing process ${child.pid}, silent for ${silence} s`));
    };
    onAbort = () => reject(signal?.reason);
    late = setTimeout(hang, 1000 * silence);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", onAbort);
    child.on("error", reject);
    child.on("exit", (code, by) =>
      reject(new Error(`the refreshing process ended (${by ?? `code ${code}`}) and said nothing`)),
    );
    child.on("message", (message: FromRefresher) => {
      clearTimeout(late);
      late = setTimeout(hang, 1000 * silence);
      if (message.kind === "progress") onProgress(message.what, message.done, message.total);
      else if (message.kind === "done") resolve(message.answer);
      else reject(message.isUserError ? new UserError(message.message) : new Error(message.message));
    });
    child.send(order, () => {}); // a broken channel shows as the process's end
  }).finally(() => {
    clearTimeout(late);
    signal?.removeEventListener("abort", onAbort);
    end();
  });
}
