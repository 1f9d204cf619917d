/**
 * Runs a claim's parts, several at once, each when what it needs is there.
 *
 * A part that fails is told about, what needs it is left out, and the others go on. The first stop signal asks every run to save; all
 * that was done is found again by the next `reverie claim --resume`.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { counted, formatDuration } from "#metrics";
import { listCheckpoints } from "#training";
import { commandLine } from "../next-commands.ts";
import { exitCodeOf, onStopSignals } from "../stop-signals.ts";
import { type ChildCommand, startCommand } from "./child-command.ts";
import type { Entry, Ledger } from "./ledger.ts";
import { type ClaimPlan, logOf, type Part } from "./plan.ts";

export interface PartsEnd {
  /** The signal that ended it before all was done. */
  readonly signal?: NodeJS.Signals;
  readonly failed: readonly string[];
}

export async function runParts(
  plan: ClaimPlan,
  ledger: Ledger,
  say: (line: string) => void,
): Promise<PartsEnd> {
  const crew = new PartsCrew(plan, ledger, say);
  const forget = onStopSignals((signal) => crew.stop(signal));
  try {
    return await crew.run();
  } finally {
    forget();
    crew.killAll();
  }
}

class PartsCrew {
  readonly #plan: ClaimPlan;
  readonly #ledger: Ledger;
  readonly #say: (line: string) => void;
  readonly #waiting: Part[];
  readonly #running = new Map<
    string,
    { readonly part: Part; readonly child: ChildCommand; readonly over: Promise<void> }
  >();
  readonly #failed = new Set<string>();
  #signal: NodeJS.Signals | undefined;

  constructor(plan: ClaimPlan, ledger: Ledger, say: (line: string) => void) {
    this.#plan = plan;
    this.#ledger = ledger;
    this.#say = say;
    this.#waiting = plan.parts.filter((part) => !ledger.isDone(part, plan.parts));
  }

  async run(): Promise<PartsEnd> {
    for (;;) {
      this.#startReady();
      if (this.#running.size === 0) break;
      await Promise.race([...this.#running.values()].map(({ over }) => over));
    }
    return { failed: [...this.#failed], ...(this.#signal && { signal: this.#signal }) };
  }

  /** The first signal asks, a second one ends. */
  stop(signal: NodeJS.Signals): void {
    const isSecond = this.#signal !== undefined;
    this.#signal = signal;
    if (isSecond) {
      this.killAll();
      return;
    }
    this.#say(
      `stopping: ${counted(this.#running.size, "command")} under way; trainings save what is done; a second signal ends at once`,
    );
    for (const { part, child } of this.#running.values()) child.stop(part.patience);
  }

  killAll(): void {
    for (const { child } of this.#running.values()) child.kill();
  }

  #startReady(): void {
    for (const part of [...this.#waiting]) {
      if (this.#signal || this.#running.size >= this.#plan.claim.limits.at_once) return;
      if (part.work === "eval" && this.#failed.has(part.run)) {
        this.#take(part);
        this.#failed.add(part.id);
      } else if (this.#isReady(part)) {
        this.#take(part);
        this.#start(part);
      }
    }
  }

  #take(part: Part): void {
    this.#waiting.splice(this.#waiting.indexOf(part), 1);
  }

  #isReady(part: Part): boolean {
    const needed = this.#plan.parts.find(
      ({ work, run }) => part.work === "eval" && work === "train" && run === part.run,
    );
    return needed === undefined || this.#ledger.isDone(needed, this.#plan.parts);
  }

  #start(part: Part): void {
    const log = logOf(part);
    mkdirSync(dirname(log), { recursive: true });
    const before = this.#ledger.of(part.id)?.seconds ?? 0;
    const begun = performance.now();
    const record = (state: Entry["state"], reason?: string): void => {
      const seconds = before + (performance.now() - begun) / 1000;
      const common = { command: commandLine(part.words), digest: part.digest, state, seconds };
      this.#ledger.set(part.id, { ...common, ...(reason !== undefined && { reason }) });
    };
    record("begun");
    this.#say(`${part.id}: ${part.work === "train" ? "training" : "evaluation"} begins`);
    const child = startCommand(part.words, log);
    const clock = this.#limitTime(part, child, before);
    const over = child.ended.then((code) => {
      clock.end();
      this.#running.delete(part.id);
      const { state, reason } = this.#judge(part, code, clock.isUp());
      record(state, reason);
      this.#tell(part, state, reason);
    });
    this.#running.set(part.id, { part, child, over });
  }

  /** A training that was begun before has only the rest of its minutes. */
  #limitTime(part: Part, child: ChildCommand, used: number): { end(): void; isUp(): boolean } {
    const { minutes } = this.#plan.claim.limits;
    if (part.work !== "train" || minutes === undefined) return { end: () => {}, isUp: () => false };
    let up = false;
    const stop = (): void => {
      up = true;
      child.stop(part.patience);
    };
    const timer = setTimeout(stop, Math.max(0, 1000 * (60 * minutes - used)));
    return { end: () => clearTimeout(timer), isUp: () => up };
  }

  #judge(part: Part, code: number | null, timeIsUp: boolean): { state: Entry["state"]; reason?: string } {
    const isThere =
      part.work === "train"
        ? listCheckpoints(part.checkpoints ?? "").length > 0
        : existsSync(`${part.folder}/results.json`);
    const wasAsked = code === 0 || code === exitCodeOf("SIGTERM"); // the latter: before its first step
    if (timeIsUp && wasAsked && isThere)
      return {
        state: "time limit",
        reason: `ended by the limit of ${this.#plan.claim.limits.minutes} minutes`,
      };
    if (this.#signal && !(part.work === "eval" && isThere)) return { state: "stopped" };
    if (code === 0 && isThere) return { state: "done" };
    const what =
      code === 0 ? "it left no result" : code === null ? "a signal ended it" : `it ended with code ${code}`;
    return { state: "failed", reason: `${what}: ${lastWords(logOf(part))}` };
  }

  #tell(part: Part, state: Entry["state"], reason: string | undefined): void {
    if (state === "failed") this.#failed.add(part.id);
    const seconds = this.#ledger.of(part.id)?.seconds ?? 0;
    const left = this.#waiting.length + this.#running.size;
    const why = reason === undefined ? "" : `: ${reason}`;
    this.#say(`${part.id}: ${state} after ${formatDuration(seconds)}${why}; ${left} left`);
    if (state === "failed") this.#say(`  its log: ${logOf(part)}`);
  }
}

/** What a command said at its end: its error, or its last line. */
function lastWords(log: string): string {
  const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
  return lines.findLast((line) => line.startsWith("error:")) ?? lines.at(-1) ?? "it said nothing";
}
