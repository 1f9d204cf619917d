/**
 * Ctrl-C, in whatever part of the job it comes: training ends with a checkpoint of the steps that are done, an evaluation ends at once (it is
 * played again when the job goes on). A second Ctrl-C ends everything at once.
 */
import {
  type EngineHandle,
  type EnginePatience,
  type EngineRequest,
  type EngineWatcher,
  startEngine,
} from "#training";
import { exitCodeOf, leave, leaveIfHung, onStopSignals, stopEngine } from "../stop-signals.ts";

/** The user wants to stop; what was done so far is on disk. */
export class Interrupted extends Error {
  override name = "Interrupted";
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

export interface StoppingOptions {
  readonly say: (line: string) => void;
  readonly patience: EnginePatience;
  readonly folder: string;
}

export class Stopping {
  readonly #options: StoppingOptions;
  readonly #forget: () => void;
  #signal: NodeJS.Signals | undefined;
  #engine: EngineHandle | undefined;
  #work: EngineRequest["work"] | undefined;
  #abandon: ((error: Interrupted) => void) | undefined;
  #tellNoMore = (): void => {};

  constructor(options: StoppingOptions) {
    this.#options = options;
    this.#forget = onStopSignals((signal) => this.#receive(signal));
  }

  /** Runs one part in a thread of its own. Throws `Interrupted` when the user stopped it. */
  async run(
    request: EngineRequest,
    watcher: EngineWatcher,
    started?: (engine: EngineHandle) => void,
  ): Promise<void> {
    this.check();
    const engine = startEngine(request, watcher, this.#options.patience);
    this.#engine = engine;
    this.#work = request.work;
    started?.(engine);
    const abandoned = new Promise<never>((_, reject) => {
      this.#abandon = reject;
    });
    try {
      await Promise.race([engine.finished, abandoned]);
    } catch (error) {
      const { folder } = this.#options;
      leaveIfHung(error, folder, `npx reverie start --resume --out ${folder}`);
      throw error;
    } finally {
      this.#tellNoMore();
      engine.finished.catch(() => {}); // an abandoned engine has nothing more to say
      this.#engine = undefined;
    }
    this.check();
  }

  /** Between parts. */
  check(): void {
    if (this.#signal) throw new Interrupted(this.#signal);
  }

  close(): void {
    this.#forget();
  }

  #receive(signal: NodeJS.Signals): void {
    const { say, patience, folder } = this.#options;
    if (this.#signal) leave(exitCodeOf(signal), folder);
    this.#signal = signal;
    if (this.#engine && this.#work === "train") {
      this.#tellNoMore = stopEngine(this.#engine, patience, say);
    } else if (this.#engine) {
      void this.#engine.kill();
      this.#abandon?.(new Interrupted(signal));
    }
  }
}
