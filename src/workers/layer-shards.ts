/**
 * The network's weights spread over actor ranks: each holds one part of every layer, and a layer is whole only while it works.
 *
 * Rajbhandari et al. 2019 (ZeRO, stage 3), https://arxiv.org/abs/1910.02054, which FSDP calls full_shard; here at the layers that policies
 * name (`Policy.parts`). Before a layer runs its parts are gathered from all ranks; afterwards it is freed, and after a backward pass
 * its gradients are summed over ranks, so that each keeps its part of the sum. That happens in every micro-batch: whole gradients
 * never pile up, for more traffic. A weight that is away keeps its shape and type over a single NaN: whoever reads it by mistake is seen.
 *
 * What trains is held as the optimizer's float32 master, of which 16-bit weights are gathered rounded; what is frozen, as it is.
 */
import type { Part, WeightKeeper } from "#policies";
import {
  aten,
  type Device,
  type DType,
  empty,
  full,
  keep,
  noGrad,
  type ProcessGroup,
  scope,
  type Tensor,
} from "#tensor";
import { type FlatLayout, flatten, layOutFlat, partOf, unflatten } from "./flat-layout.ts";

/** Weights of one layer, type and group of the optimizer: they travel together. */
export interface Piece {
  readonly names: readonly string[];
  readonly weights: readonly Tensor[];
  readonly layout: FlatLayout;
  readonly dtype: DType;
  readonly device: Device;
  /** Of the optimizer; none for frozen weights. */
  readonly group: number | undefined;
  /** This rank's part: a float32 master of what trains, the weights' own type of what does not. */
  readonly own: Tensor;
  /** This rank's part of the gradients' sum over ranks and micro-batches, float32. */
  gradient?: Tensor | undefined;
  isHere: boolean;
}

export interface ShardOptions {
  readonly parts: readonly Part[];
  readonly weights: ReadonlyMap<string, Tensor>;
  /** The optimizer's group of a weight; none: frozen. */
  readonly groupOf: (name: string) => number | undefined;
  readonly group: ProcessGroup;
}

const partKey = (part: Part): string => part.join(" ");

export class LayerShards implements WeightKeeper {
  readonly pieces: readonly Piece[];
  readonly #byPart: ReadonlyMap<string, readonly Piece[]>;
  readonly #group: ProcessGroup;
  readonly #blanks = new Map<string, Tensor>();
  #isWhole = true;
  #peak = 0;

  /** The weights are whole now, the same on every rank, and stay so until `scatter`. */
  constructor({ parts, weights, groupOf, group }: ShardOptions) {
    this.#group = group;
    this.#byPart = new Map(
      splitByPart(parts, weights).map(([part, names]) => {
        const kindOf = (name: string): string => `${groupOf(name)} ${weights.get(name)?.dtype}`;
        const kinds = [...new Set(names.map(kindOf))].map((kind) =>
          names.filter((name) => kindOf(name) === kind),
        );
        const pieces = kinds.map((same) => this.#piece(same, weights, groupOf(same[0]!)));
        return [partKey(part), pieces] as const;
      }),
    );
    this.pieces = [...this.#byPart.values()].flat();
  }

  #piece(names: readonly string[], all: ReadonlyMap<string, Tensor>, group: number | undefined): Piece {
    const weights = names.map((name) => all.get(name) as Tensor);
    const { dtype, device } = weights[0]!;
    const layout = layOutFlat(weights, this.#group.worldSize);
    const type = { dtype: group === undefined ? dtype : "float32", device } as const;
    const own = keep(empty([layout.length], type));
    const piece: Piece = { names, weights, layout, dtype, device, group, own, isHere: true };
    this.#reread(piece);
    return piece;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Bytes of weights that this rank holds now, and the most since the last `scatter`. */
  get bytes(): { readonly now: number; readonly peak: number } {
    return { now: this.#held(), peak: this.#peak };
  }

  #held(): number {
    const whole = (piece: Piece): number => (piece.isHere ? piece.layout.total * bytesOf(piece.dtype) : 0);
    return this.pieces.reduce((sum, piece) => sum + piece.own.byteLength + whole(piece), 0);
  }

  /** Every rank keeps its parts only. */
  scatter(): void {
    for (const piece of this.pieces) if (piece.isHere) this.#hide(piece);
    this.#isWhole = false;
    this.#peak = this.#held();
  }

  /** All weights become whole, on ranks that `stay`; the others only give their parts. All ranks must ask together. */
  makeWhole(stay: boolean): void {
    for (const piece of this.pieces) {
      this.#gather(piece);
      if (!stay) this.#hide(piece);
    }
    this.#isWhole = stay;
  }

  bring(part: Part): void {
    for (const piece of this.#of(part)) this.#gather(piece);
    this.#peak = Math.max(this.#peak, this.#held());
  }

  take(part: Part, after: "forward" | "backward"): void {
    for (const piece of this.#of(part)) {
      if (after === "backward" && piece.group !== undefined) this.#reduce(piece);
      this.#hide(piece);
    }
  }

  /** The whole weights were changed from outside. */
  rereadWeights(): void {
    for (const piece of this.pieces) this.#reread(piece);
  }

  dispose(): void {
    for (const { own, gradient } of this.pieces) for (const tensor of [own, gradient]) tensor?.dispose();
    for (const blank of this.#blanks.values()) blank.dispose();
  }

  #of(part: Part): readonly Piece[] {
    const pieces = part.length === 0 ? [] : this.#byPart.get(partKey(part));
    if (pieces) return pieces;
    throw new Error(`internal: the policy did not announce the part ${partKey(part)}`);
  }

  #reread({ weights, layout, own }: Piece): void {
    noGrad(() => scope(() => own.copy_(partOf(layout, flatten(layout, weights, own), this.#group.rank))));
  }

  #gather(piece: Piece): void {
    const { layout, dtype, device, own, weights } = piece;
    noGrad(() =>
      scope(() => {
        const row = empty([layout.total], { dtype, device });
        this.#group.allGatherNow(row, own.dtype === dtype ? own : own.to({ dtype }));
        for (const [i, view] of unflatten(layout, row).entries()) aten.set_data(weights[i]!, view);
      }),
    );
    piece.isHere = true;
  }

  #hide(piece: Piece): void {
    const blank = this.#blank(piece);
    scope(() => {
      for (const weight of piece.weights) aten.set_data(weight, blank.expand(weight.shape));
    });
    piece.isHere = false;
  }

  #blank({ dtype, device }: Piece): Tensor {
    const key = `${dtype} ${device}`;
    const known = this.#blanks.get(key);
    if (known) return known;
    const made = keep(full([], Number.NaN, { dtype, device }));
    this.#blanks.set(key, made);
    return made;
  }

  /** This rank's part of the sum over ranks, added to what earlier micro-batches left. */
  #reduce(piece: Piece): void {
    const { layout, weights, device } = piece;
    noGrad(() => {
      const part = scope(() => {
        const gradients = weights.map(({ grad }) => grad);
        const row = flatten(layout, gradients, { dtype: "float32", device });
        const sum = empty([layout.length], { device });
        this.#group.reduceScatterNow(sum, row);
        return sum;
      });
      for (const weight of weights) weight.grad = null;
      if (!piece.gradient) {
        piece.gradient = keep(part);
        return;
      }
      piece.gradient.add_(part);
      part.dispose();
    });
  }
}

/** Each weight with numbers behind the comma belongs to the first part that reaches it. */
function splitByPart(parts: readonly Part[], weights: ReadonlyMap<string, Tensor>): [Part, string[]][] {
  const left = new Map([...weights].filter(([, { dtype }]) => dtype.includes("float")));
  return parts.map((part) => {
    const below = (name: string): boolean =>
      part.some((path) => name === path || name.startsWith(`${path}.`));
    const names = [...left.keys()].filter(below);
    for (const name of names) left.delete(name);
    return [part, names];
  });
}

const bytesOf = (dtype: DType): number => (dtype === "float64" ? 8 : dtype === "float32" ? 4 : 2);
