/**
 * Ctrl-C, in whatever part of the job it comes: training ends after its step with a checkpoint, an evaluation ends at once (it is played
 * again when the job goes on). A second Ctrl-C ends everything at once.
 */
import { type EngineHandle, type EngineRequest, type EngineWatcher, startEngine } from "#training";

/** The user wants to stop; what was done so far is on disk. */
export class Interrupted extends Error {
  override name = "Interrupted";
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

export class Stopping {
  readonly #say: (line: string) => void;
  readonly #onSignal = (signal: NodeJS.Signals): void => this.#receive(signal);
  #signal: NodeJS.Signals | undefined;
  #engine: EngineHandle | undefined;
  #work: EngineRequest["work"] | undefined;
  #abandon: ((error: Interrupted) => void) | undefined;

  constructor(say: (line: string) => void) {
    this.#say = say;
    for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, this.#onSignal);
  }

  /** Runs one part in a thread of its own. Throws `Interrupted` when the user stopped it. */
  async run(
    request: EngineRequest,
    watcher: EngineWatcher,
    started?: (engine: EngineHandle) => void,
  ): Promise<void> {
    this.check();
    const engine = startEngine(request, watcher);
    this.#engine = engine;
    this.#work = request.work;
    started?.(engine);
    const abandoned = new Promise<never>((_, reject) => {
      this.#abandon = reject;
    });
    try {
      await Promise.race([engine.finished, abandoned]);
    } finally {
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
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, this.#onSignal);
  }

  #receive(signal: NodeJS.Signals): void {
    if (this.#signal) process.exit(signal === "SIGINT" ? 130 : 143);
    this.#signal = signal;
    if (this.#engine && this.#work === "train") {
      this.#say("stopping after this step, with a checkpoint; once more ends at once");
      this.#engine.stop();
    } else if (this.#engine) {
      void this.#engine.kill();
      this.#abandon?.(new Interrupted(signal));
    }
  }
}
