/** Plays back the noise that a recording was made with, in the order in which it was drawn. */
import { stack, type Tensor } from "#tensor";
import type { NoisePurpose, NoiseSource } from "#worlds";

export class RecordedNoise implements NoiseSource {
  readonly #queues = new Map<NoisePurpose, Tensor[]>();

  /** `noise`: [N, ...], one row per slot of the env. */
  push(purpose: NoisePurpose, noise: Tensor): void {
    const queue = this.#queues.get(purpose) ?? [];
    queue.push(noise);
    this.#queues.set(purpose, queue);
  }

  draw(purpose: NoisePurpose, slots: readonly number[], shape: readonly number[]): Tensor {
    const next = this.#queues.get(purpose)?.shift();
    if (!next) throw new Error(`the recording has no further noise for "${purpose}"`);
    const rows = stack(slots.map((slot) => next.select(0, slot)));
    const expected = [slots.length, ...shape];
    if (rows.shape.join() !== expected.join()) {
      throw new Error(`the recorded "${purpose}" noise is [${rows.shape}], the world asks for [${expected}]`);
    }
    return rows;
  }
}
