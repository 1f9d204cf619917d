/**
 * One claim of this project that a command can check: the shape of every file in `prove/proofs/`.
 *
 * A proof's name is its file's name. It runs the real product, says what it checks as it goes, and ends with one
 * figure. It fails by answering `ok: false`, or by throwing.
 */
export interface Proof {
  /** The claim in one sentence that can be false. */
  readonly claim: string;
  /** What the figure must be, in words: "0 differences", ">= 85 %". */
  readonly goal: string;
  /** How long it takes on two cores, in minutes. */
  readonly minutes: number;
  /** What it needs beyond a set-up checkout: "a GPU", "../shared"; absent where it needs nothing. */
  readonly needs?: string;
  /** Runs the checks; `say` prints a line that a reader follows. */
  run(say: (line: string) => void): Promise<Outcome>;
}

export interface Outcome {
  readonly ok: boolean;
  /** What was measured, with its unit. */
  readonly figure: string;
}

/** Counts the checks of a proof: each is said with its verdict, and the outcome is whether all of them held. */
export class Checks {
  readonly #say: (line: string) => void;
  #held = 0;
  #missed = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** Says whether `what` holds; `found` is shown where it does not. */
  check(what: string, holds: boolean, found = ""): boolean {
    if (holds) this.#held += 1;
    else this.#missed += 1;
    this.#say(`${holds ? "ok  " : "MISS"} ${what}${holds || found === "" ? "" : `: found ${found}`}`);
    return holds;
  }

  /** All checks held, and there was at least one. */
  outcome(): Outcome {
    const all = this.#held + this.#missed;
    return { ok: this.#missed === 0 && all > 0, figure: `${this.#held} of ${all} checks hold` };
  }
}
