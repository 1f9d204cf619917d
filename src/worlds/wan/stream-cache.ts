/**
 * What a causal video network remembers between the pieces of one stream.
 *
 * Every layer that looks back in time owns a slot, found by the order in which layers ask during one pass.
 * `nextPiece` starts the next pass over the same slots.
 */
import { keep, type Tensor } from "#tensor";

export class StreamCache {
  readonly #slots: (Tensor | undefined)[] = [];
  #cursor = 0;
  #pieces = 0;

  /** Whether the piece in work is the stream's first. */
  get first(): boolean {
    return this.#pieces === 1;
  }

  nextPiece(): void {
    this.#cursor = 0;
    this.#pieces += 1;
  }

  /** What the next slot to be asked for holds. */
  peek(): Tensor | undefined {
    return this.#slots[this.#cursor];
  }

  /** The asking layer's slot: what it left last time, which lives until it leaves something for the next piece. */
  slot(): { readonly before: Tensor | undefined; leave(after: Tensor): void } {
    const index = this.#cursor++;
    const before = this.#slots[index];
    return {
      before,
      leave: (after) => {
        this.#slots[index] = keep(after.clone()); // a view would hold the whole activation
        if (before) before.dispose();
      },
    };
  }

  dispose(): void {
    for (const slot of this.#slots) slot?.dispose();
    this.#slots.length = 0;
  }
}
