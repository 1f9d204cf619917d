/**
 * Disturbs an expert so that its episodes show more than the perfect way.
 *
 * The executed action is the expert's plus noise that lasts over several steps (first-order autoregressive), and now and
 * then a turned gripper command; the expert's own answer stays the label. Noise that lasts pushes the hand to places it
 * would not see otherwise, from which the labels lead back.
 */
import { handActionSize } from "#engine";
import type { Mt19937 } from "#random";
import type { Action } from "./expert.ts";
import { clamp } from "./motion.ts";

export interface NoiseOptions {
  /** Standard deviation of the noise on translations, in action units. */
  readonly size: number;
  /** How much of a step's noise remains in the next, in [0, 1). */
  readonly persistence: number;
  /** Probability per step that a gripper gets the opposite command. */
  readonly gripperFlips: number;
}

export const noNoise: NoiseOptions = { size: 0, persistence: 0, gripperFlips: 0 };

export class ActionNoise {
  readonly #options: NoiseOptions;
  readonly #random: Mt19937;
  #current: number[] = [];

  constructor(options: NoiseOptions, random: Mt19937) {
    this.#options = options;
    this.#random = random;
  }

  disturb(action: Action): Action {
    const { size, persistence, gripperFlips } = this.#options;
    const disturbed = action.slice();
    const fresh = size * Math.sqrt(1 - persistence * persistence); // keeps the noise's size over time
    for (let hand = 0; hand < action.length; hand += handActionSize) {
      for (const axis of [hand, hand + 1, hand + 2]) {
        this.#current[axis] = persistence * (this.#current[axis] ?? 0) + fresh * this.#random.normal();
        disturbed[axis] = clamp(action[axis]! + this.#current[axis]!, -1, 1);
      }
      const gripper = hand + handActionSize - 1;
      if (this.#random.double() < gripperFlips) disturbed[gripper] = -action[gripper]!;
    }
    return disturbed;
  }
}
