/** A goal that counts once it held at the end of several control steps in a row: what only passes through it does not. */
import type { Condition } from "./predicates.ts";

export class HeldGoal {
  readonly #goal: Condition;
  readonly #steps: number;
  #held = 0;

  constructor(goal: Condition, steps: number) {
    this.#goal = goal;
    this.#steps = steps;
  }

  /** At a start: a goal that holds there has just begun to. */
  begin(): void {
    this.#held = 0;
  }

  /** At the end of a control step; returns whether the goal counts now. */
  count(): boolean {
    this.#held = this.#goal() ? this.#held + 1 : 0;
    return this.#held >= this.#steps;
  }

  /** Whether the goal holds at this moment, counted or not. */
  get holds(): boolean {
    return this.#goal();
  }

  /** For snapshots: nothing where one step is enough. */
  get numberCount(): number {
    return this.#steps === 1 ? 0 : 1;
  }

  numbers(): number[] {
    return this.#steps === 1 ? [] : [this.#held];
  }

  restore([held = 0]: ArrayLike<number> & Iterable<number>): void {
    this.#held = held;
  }
}
