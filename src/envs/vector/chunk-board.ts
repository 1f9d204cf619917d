/** Rewards and flags of one chunk of all slots, while they are written and as tensors. Shapes: B slots, C actions. */

import type { Outcome } from "#simulators";
import { keep, type Tensor, tensor } from "#tensor";

export class ChunkBoard {
  readonly #size: number;
  readonly #chunk: number;
  readonly #rewards: Float32Array; // [B, C]
  readonly #terminated: Uint8Array;
  readonly #truncated: Uint8Array;

  constructor(size: number, chunk: number) {
    this.#size = size;
    this.#chunk = chunk;
    this.#rewards = new Float32Array(size * chunk);
    this.#terminated = new Uint8Array(size * chunk);
    this.#truncated = new Uint8Array(size * chunk);
  }

  write(slot: number, step: number, { reward, terminated, truncated }: Outcome): void {
    const at = slot * this.#chunk + step;
    this.#rewards[at] = reward;
    this.#terminated[at] = Number(terminated);
    this.#truncated[at] = Number(truncated);
  }

  /** Whether the slot's episode ended anywhere in the chunk. */
  isDone(slot: number): boolean {
    return this.#row(this.#terminated, slot).includes(1) || this.#row(this.#truncated, slot).includes(1);
  }

  /** Takes a slot's flags back: its episode does not count. */
  silence(slot: number): void {
    this.#row(this.#terminated, slot).fill(0);
    this.#row(this.#truncated, slot).fill(0);
  }

  /** Moves flags to the last action of the chunk: all of it was played before anybody looked. */
  gatherFlags(): void {
    for (const flags of [this.#terminated, this.#truncated]) {
      for (let slot = 0; slot < this.#size; slot++) {
        const row = this.#row(flags, slot);
        const any = Number(row.includes(1));
        row.fill(0);
        row[this.#chunk - 1] = any;
      }
    }
  }

  tensors(): { rewards: Tensor; terminated: Tensor; truncated: Tensor } {
    const shape = [this.#size, this.#chunk];
    const flags = (values: Uint8Array) => keep(tensor(values, { shape, dtype: "bool" }));
    return {
      rewards: keep(tensor(this.#rewards, { shape })),
      terminated: flags(this.#terminated),
      truncated: flags(this.#truncated),
    };
  }

  #row(values: Uint8Array, slot: number): Uint8Array {
    return values.subarray(slot * this.#chunk, (slot + 1) * this.#chunk);
  }
}
