/** What the slots of an env show, kept in one block per kind so that an observation is one copy. */
import type { Observation } from "#data";
import type { Sight } from "#simulators";
import { robotStateSize } from "#simulators";
import { keep, tensor } from "#tensor";

export class SlotViews {
  readonly #size: number;
  readonly #picture: readonly [height: number, width: number];
  readonly #main: Uint8Array; // [B, H, W, 3]
  readonly #wrist: Uint8Array | undefined;
  readonly #states: Float32Array; // [B, 8]
  readonly #instructions: string[];

  /** @param instruction what a slot shows before its first episode. */
  constructor(size: number, picture: readonly [number, number], withWrist: boolean, instruction: string) {
    this.#size = size;
    this.#picture = picture;
    const bytes = size * picture[0] * picture[1] * 3;
    this.#main = new Uint8Array(bytes);
    this.#wrist = withWrist ? new Uint8Array(bytes) : undefined;
    this.#states = new Float32Array(size * robotStateSize);
    this.#instructions = Array<string>(size).fill(instruction);
  }

  describe(slot: number, instruction: string): void {
    this.#instructions[slot] = instruction;
  }

  show(slot: number, { main, wrist, state }: Sight): void {
    this.#main.set(main, slot * main.length);
    if (wrist) this.#wrist?.set(wrist, slot * wrist.length);
    this.#states.set(state, slot * robotStateSize);
  }

  /** Tensors of its own, which the receiver frees. */
  observation(): Observation {
    const [height, width] = this.#picture;
    const size = this.#size;
    return {
      mainImages: keep(tensor(this.#main, { shape: [size, height, width, 3] })),
      ...(this.#wrist && { wristImages: keep(tensor(this.#wrist, { shape: [size, 1, height, width, 3] })) }),
      states: keep(tensor(this.#states, { shape: [size, robotStateSize] })),
      taskDescriptions: [...this.#instructions],
    };
  }
}
