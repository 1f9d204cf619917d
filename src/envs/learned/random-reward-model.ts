/**
 * The control of a claim about learning in a world: success is drawn at random, at the rate at which the real reward model finds it.
 *
 * Whatever the pictures show, every episode succeeds in its k-th chunk with the same probability: the share of episodes which the real
 * judge first finds successful in their k-th chunk, among those that it had not found so before. Rates are counted over the whole run,
 * which estimates them without bias although the drawn successes end episodes early (Kaplan and Meier 1958,
 * https://doi.org/10.1080/01621459.1958.10501452). So reward, endings and lengths look as in the true run, and no behavior earns more than
 * another. What such a run gains is not learned from what the reward model sees.
 */
import { randomJudgeSeed } from "#random";
import { UserError } from "#registry";
import { Generator, rand, scope, type Tensor, tensor } from "#tensor";
import { heldFrames, type SuccessCriterion } from "./success.ts";

/** What the real reward model thinks of a slot's episode. */
interface Watched {
  chunk: number; // the next one's number
  held: number;
  met: boolean;
}

export class RandomRewardModel {
  readonly #criterion: SuccessCriterion;
  readonly #chunk: number; // frames
  readonly #generator: Generator;
  readonly #watched: Watched[];
  /** By chunk number: episodes not yet successful before it, and those that became so in it. */
  #rates: (readonly [open: number, met: number])[] = [];
  #draws: readonly number[] = [];

  constructor(
    size: number,
    { chunk, criterion, seed }: { chunk: number; criterion: SuccessCriterion; seed: number },
  ) {
    if (criterion.holdFrames > chunk)
      throw new UserError(
        `random_judge decides chunk by chunk, and success_hold_frames (${criterion.holdFrames}) is longer than a chunk (${chunk})`,
      );
    this.#criterion = criterion;
    this.#chunk = chunk;
    this.#generator = new Generator(randomJudgeSeed(seed));
    this.#watched = Array.from({ length: size }, newlyWatched);
  }

  began(slot: number): void {
    this.#watched[slot] = newlyWatched();
  }

  /** Draws for every slot, so that what one draws does not depend on who else is still playing. */
  stepBegan(): void {
    this.#draws = scope(() => rand([this.#watched.length], { generator: this.#generator }).toArray()).map(
      Number,
    );
  }

  /** Given the real opinions of each slot's frames: all convincing, or none. */
  opinions(slots: readonly number[], real: readonly (readonly number[])[]): number[][] {
    const numbers = slots.map((slot, b) => this.#watch(this.#watched[slot]!, real[b]!));
    return slots.map((slot, b) => {
      const [open, met] = this.#rates[numbers[b]!] ?? [0, 0];
      const success = open > 0 && this.#draws[slot]! < met / open;
      return Array<number>(this.#chunk).fill(Number(success));
    });
  }

  getState(): Map<string, Tensor> {
    return new Map([
      ["control.draws", this.#generator.getState()],
      ["control.rates", tensor(this.#rates.flat(), { dtype: "int64" })],
    ]);
  }

  setState(states: ReadonlyMap<string, Tensor>): void {
    const [draws, rates] = ["draws", "rates"].map((name) => states.get(`control.${name}`));
    if (!draws || !rates)
      throw new UserError("the saved random streams lack those of random_judge: it was off in that run");
    this.#generator.setState(draws);
    const counts = rates.toArray().map(Number);
    this.#rates = Array.from({ length: counts.length / 2 }, (_, k) => [counts[2 * k]!, counts[2 * k + 1]!]);
  }

  /** Counts a chunk of the real reward model's opinions; answers its number in the episode. */
  #watch(episode: Watched, opinions: readonly number[]): number {
    const held = heldFrames(opinions, this.#criterion, episode.held);
    const met = held.some((frames) => frames >= this.#criterion.holdFrames);
    if (!episode.met) {
      const [open, successes] = this.#rates[episode.chunk] ?? [0, 0];
      this.#rates[episode.chunk] = [open + 1, successes + Number(met)];
    }
    episode.held = held.at(-1) ?? episode.held;
    episode.met ||= met;
    return episode.chunk++;
  }
}

const newlyWatched = (): Watched => ({ chunk: 0, held: 0, met: false });
