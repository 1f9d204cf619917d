/** What the slots of an env show, kept in one block per kind so that an observation is one copy. */
import type { Observation } from "#data";
import { robotStateSize } from "#engine";
import type { Sight } from "#simulators";
import { keep, tensor } from "#tensor";

export interface ViewOptions {
  readonly picture: readonly [height: number, width: number];
  readonly withWrist: boolean;
  /** What a slot shows before its first episode. */
  readonly instruction: string;
}

export class SlotViews {
  readonly #size: number;
  readonly #hands: number;
  readonly #picture: readonly [height: number, width: number];
  readonly #main: Uint8Array; // [B, H, W, 3]
  readonly #wrist: Uint8Array | undefined;
  readonly #states: Float32Array; // [B, 8 per hand]
  readonly #instructions: string[];

  constructor(size: number, hands: number, { picture, withWrist, instruction }: ViewOptions) {
    this.#size = size;
    this.#hands = hands;
    this.#picture = picture;
    const bytes = size * picture[0] * picture[1] * 3;
    this.#main = new Uint8Array(bytes);
    this.#wrist = withWrist ? new Uint8Array(bytes * hands) : undefined;
    this.#states = new Float32Array(size * hands * robotStateSize);
    this.#instructions = Array<string>(size).fill(instruction);
  }

  describe(slot: number, instruction: string): void {
    this.#instructions[slot] = instruction;
  }

  show(slot: number, { main, wrist, state }: Sight): void {
    this.#main.set(main, slot * main.length);
    if (wrist) this.#wrist?.set(wrist, slot * wrist.length);
    this.#states.set(state, slot * state.length);
  }

  /** Tensors of its own, which the receiver frees. */
  observation(): Observation {
    const [height, width] = this.#picture;
    const [size, hands] = [this.#size, this.#hands];
    const wrists = [size, hands, height, width, 3];
    return {
      mainImages: keep(tensor(this.#main, { shape: [size, height, width, 3] })),
      ...(this.#wrist && { wristImages: keep(tensor(this.#wrist, { shape: wrists })) }),
      states: keep(tensor(this.#states, { shape: [size, hands * robotStateSize] })),
      taskDescriptions: [...this.#instructions],
    };
  }
}
