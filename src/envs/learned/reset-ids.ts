/**
 * Which recorded start each slot begins from.
 *
 * The slots of a group share their start, which is what makes their returns comparable. Scheduled resets draw one
 * start per group from a seeded stream, with the numbers that the reference's torch generator gives; a slot that
 * restarts on its own draws from a second stream, so that one kind of reset never shifts the other.
 */
import { UserError } from "#registry";
import { Generator, randint } from "#tensor";

export interface ResetIdsOptions {
  readonly size: number;
  readonly groupSize: number;
  readonly starts: number;
  readonly seed: number;
}

export class ResetIds {
  readonly #options: ResetIdsOptions;
  readonly #scheduled: Generator;
  readonly #single: Generator;
  #ids: readonly number[];

  constructor(options: ResetIdsOptions) {
    const { size, groupSize, seed } = options;
    if (size % groupSize !== 0) {
      throw new UserError(
        `${size} envs cannot be split into groups of ${groupSize}: change total_num_envs or group_size`,
      );
    }
    this.#options = options;
    this.#scheduled = new Generator(seed);
    this.#single = new Generator(seed + 0x5eed);
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

  /** A start of its own for each of `count` slots. */
  drawSingle(count: number): number[] {
    return draw(this.#options.starts, count, this.#single);
  }

  #drawGroups(): number[] {
    const { size, groupSize, starts } = this.#options;
    const ids = draw(starts, size / groupSize, this.#scheduled);
    return ids.flatMap((id) => Array<number>(groupSize).fill(id));
  }
}

function draw(high: number, count: number, generator: Generator): number[] {
  const drawn = randint(0, high, [count], { generator });
  const ids = drawn.toArray().map(Number);
  drawn.dispose();
  return ids;
}
