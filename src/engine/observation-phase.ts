/**
 * Decides after which physics step an observation is taken, as robosuite's observables do.
 *
 * They add the physics time step to a counter in floating point and sample once per period, so the moment
 * drifts with rounding and with the number of forced samples before: after `reset` and `set_init_state`
 * it is physics step 23 of 25, not the last. Images and states that a policy reads come from that moment.
 * With other time steps the drift can skip a control step, so packs of one's own observe after the last.
 */
const period = 1 / 20; // seconds

export interface ObservationPhase {
  reset(): void;
  /** Call after each physics step, and with `force` when somebody asks; true when an observation is due. */
  tick(force?: boolean): boolean;
  /** For snapshots of an episode. */
  state: readonly [number, number];
}

/** After the last of `substeps` physics steps. */
export class LastSubstep implements ObservationPhase {
  readonly #substeps: number;
  #done = 0;

  constructor(substeps: number) {
    this.#substeps = substeps;
  }

  reset(): void {
    this.#done = 0;
  }

  tick(force = false): boolean {
    if (force) return true;
    this.#done = (this.#done + 1) % this.#substeps;
    return this.#done === 0;
  }

  get state(): readonly [number, number] {
    return [this.#done, 0];
  }

  set state([done]: readonly [number, number]) {
    this.#done = done;
  }
}

/** robosuite's counter, rounding included. */
export class DriftingPhase implements ObservationPhase {
  readonly #timestep: number;
  #elapsed = 0;
  #sampled = false;

  constructor(timestep: number) {
    this.#timestep = timestep;
  }

  /** A reset clears the counter and, as in robosuite, not the flag. */
  reset(): void {
    this.#elapsed = 0;
  }

  tick(force = false): boolean {
    this.#elapsed += this.#timestep;
    let due = force || (!this.#sampled && period >= this.#elapsed);
    if (due) this.#sampled = true;
    if (this.#elapsed >= period) {
      due ||= !this.#sampled;
      this.#elapsed %= period;
      this.#sampled = false;
    }
    return due;
  }

  get state(): readonly [elapsed: number, sampled: number] {
    return [this.#elapsed, this.#sampled ? 1 : 0];
  }

  set state([elapsed, sampled]: readonly [number, number]) {
    this.#elapsed = elapsed;
    this.#sampled = sampled === 1;
  }
}
