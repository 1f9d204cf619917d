/**
 * 32-bit copies of 16-bit weights, for the optimizer to work on.
 *
 * A step of 2e-5 on a bfloat16 weight is below its rounding and would be lost, again and again. So the optimizer moves float32
 * masters, and the network gets their rounded values.
 */
import { aten, empty, keep, noGrad, type Tensor } from "#tensor";

/** A master's name in a checkpoint. */
export const masterKey = (name: string): string => `master.${name}`;

export class Float32Masters {
  /** What the optimizer works on, by name: a master, or the weight itself where that is float32 or no masters are wanted. */
  readonly targets: ReadonlyMap<string, Tensor>;
  /** The masters alone. */
  readonly copies: ReadonlyMap<string, Tensor>;
  readonly #weights: ReadonlyMap<string, Tensor>;

  constructor(weights: ReadonlyMap<string, Tensor>, wanted: boolean) {
    this.#weights = weights;
    const narrow = [...weights].filter(([, { dtype }]) => wanted && dtype !== "float32");
    this.copies = noGrad(() => new Map(narrow.map(([name, weight]) => [name, keep(weight.float())])));
    this.targets = new Map([...weights].map(([name, weight]) => [name, this.copies.get(name) ?? weight]));
  }

  /** Writes the masters into the network. All at once: one small kernel for each weight would take longer than the optimizer. */
  round(names: Iterable<string> = this.copies.keys()): void {
    const known = [...names].filter((name) => this.copies.has(name));
    if (known.length === 0) return;
    const of = (map: ReadonlyMap<string, Tensor>): Tensor[] => known.map((name) => map.get(name)!);
    noGrad(() => aten._foreach_copy_(of(this.#weights), of(this.copies)));
  }

  /** The network's weights were changed from outside. */
  reread(): void {
    noGrad(() => {
      for (const [name, copy] of this.copies) copy.copy_(this.#weights.get(name)!);
    });
  }

  state(): Map<string, Tensor> {
    return new Map([...this.copies].map(([name, copy]) => [masterKey(name), copy]));
  }

  /** Those that a checkpoint lacks stay as they are: the rounded weights. */
  loadState(state: ReadonlyMap<string, Tensor>): void {
    noGrad(() => {
      for (const [name, copy] of this.copies) {
        const saved = state.get(masterKey(name));
        if (saved) copy.copy_(saved);
      }
    });
  }

  dispose(): void {
    for (const copy of this.copies.values()) copy.dispose();
  }
}

/** Gradients in the masters' type. */
export function inFloat32(gradients: ReadonlyMap<string, Tensor>): ReadonlyMap<string, Tensor> {
  const given = [...gradients.values()];
  if (given.every(({ dtype }) => dtype === "float32")) return gradients;
  const wide = given.map(({ shape, device }) => empty(shape, { device }));
  noGrad(() => aten._foreach_copy_(wide, given));
  return new Map([...gradients.keys()].map((name, i) => [name, wide[i]!]));
}
