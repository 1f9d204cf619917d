/**
 * Which recorded start each slot begins from.
 *
 * The slots of a group share their start, which is what makes their returns comparable. Scheduled resets draw one
 * start per group from a seeded stream, with the numbers that the reference's torch generator gives; a slot that
 * restarts on its own draws from a second stream, so that one kind of reset never shifts the other.
 */
import { singleResetSeed } from "#random";
import { UserError } from "#registry";
import { Generator, randint, type Tensor, tensor } from "#tensor";

export interface ResetIdsOptions {
  readonly size: number;
  readonly groupSize: number;
  readonly starts: number;
  readonly seed: number;
  /** Every reset begins from this start. */
  readonly always?: number | undefined;
}

export class ResetIds {
  readonly #options: ResetIdsOptions;
  readonly #scheduled: Generator;
  readonly #single: Generator;
  #ids: readonly number[];

  constructor(options: ResetIdsOptions) {
    const { size, groupSize, seed, starts, always } = options;
    if (always !== undefined && always >= starts) {
      throw new UserError(
        `specific_reset_id is ${always}, but the dataset has ${starts} starts (0 to ${starts - 1})`,
      );
    }
    if (size % groupSize !== 0) {
      throw new UserError(
        `${size} envs cannot be split into groups of ${groupSize}: change total_num_envs or group_size`,
      );
    }
    this.#options = options;
    this.#scheduled = new Generator(seed);
    this.#single = new Generator(singleResetSeed(seed));
    this.#ids = this.#drawGroups();
  }

  /** The starts of the scheduled reset, one per slot. */
  get current(): readonly number[] {
    return this.#ids;
  }

  /** Draws the starts of the next scheduled reset. */
  advance(): void {
    this.#ids = this.#drawGroups();
  }

  getState(): Map<string, Tensor> {
    return new Map([
      ["reset.scheduled", this.#scheduled.getState()],
      ["reset.single", this.#single.getState()],
      ["reset.ids", tensor([...this.#ids], { dtype: "int64" })],
    ]);
  }

  setState(states: ReadonlyMap<string, Tensor>): void {
    const [scheduled, single, ids] = ["scheduled", "single", "ids"].map((name) =>
      states.get(`reset.${name}`),
    );
    if (!scheduled || !single || ids?.numel !== this.#options.size) {
      throw new UserError(
        "the saved reset streams are of an env with another number of slots, or incomplete",
      );
    }
    this.#scheduled.setState(scheduled);
    this.#single.setState(single);
    this.#ids = ids.toArray().map(Number);
  }

  /** A start of its own for each of `count` slots. */
  drawSingle(count: number): number[] {
    return this.#draw(count, this.#single);
  }

  #drawGroups(): number[] {
    const { size, groupSize } = this.#options;
    const ids = this.#draw(size / groupSize, this.#scheduled);
    return ids.flatMap((id) => Array<number>(groupSize).fill(id));
  }

  #draw(count: number, generator: Generator): number[] {
    const { starts, always } = this.#options;
    const drawn = draw(starts, count, generator);
    return always === undefined ? drawn : drawn.map(() => always);
  }
}

function draw(high: number, count: number, generator: Generator): number[] {
  const drawn = randint(0, high, [count], { generator });
  const ids = drawn.toArray().map(Number);
  drawn.dispose();
  return ids;
}
