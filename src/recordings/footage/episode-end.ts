/** When a recorded episode is over: its time is up, or something was achieved and the steps after it have gone by. */
export class EpisodeEnd {
  readonly #after: number;
  #last: number;
  #achieved = false;
  steps = 0;
  /** Whether the episode's own goal held at any step. */
  succeeded = false;

  constructor({ steps, steps_after_success }: { steps: number; steps_after_success: number }) {
    this.#last = steps;
    this.#after = steps_after_success;
  }

  /** To be called after every step. `goals`: a bit for each goal of the suite that holds. */
  count({ success, goals }: { readonly success: boolean; readonly goals: bigint }): void {
    this.steps++;
    this.succeeded ||= success;
    if (this.#achieved || !(success || goals !== 0n)) return;
    this.#achieved = true;
    this.#last = Math.min(this.#last, this.steps + this.#after);
  }

  get reached(): boolean {
    return this.steps >= this.#last;
  }
}
