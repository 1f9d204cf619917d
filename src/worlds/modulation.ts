/**
 * The modulation of a diffusion transformer's block: six rows of numbers, said by time and actions, that shift, scale and gate
 * its two halves. By one kernel where one fits (bfloat16 on a GPU; norms also while they learn), by plain operators elsewhere.
 *
 * Peebles & Xie 2022, https://arxiv.org/abs/2212.09748.
 *
 * Shapes: B videos, T frames, S patches of a frame, D width.
 */
import {
  fusedGatedSum,
  fusedJunction,
  fusedModulatedNorm,
  fusedSumNorm,
  type RecordedTable,
  type SumAndNorm,
} from "#kernels";
import type { LayerNorm } from "#nn";
import { aten, type Tensor } from "#tensor";

export const epsilon = 1e-6;

/** Layer norm without weights, in the input's dtype. */
export const plainNorm = (x: Tensor): Tensor => aten.layer_norm(x, [x.shape.at(-1)!], null, null, epsilon);

/** Rows: shift, scale and gate of the attention, then of the feed-forward layer. */
export class SixRows {
  readonly #table_BT6D: Tensor;
  readonly #table_G6D: Tensor;
  #apart: readonly Tensor[] | undefined; // the table's rows, each with a gradient of its own

  /** One table per frame, or one per video: [B, T or 1, 6, D]. */
  constructor(table_BT6D: Tensor) {
    this.#table_BT6D = table_BT6D;
    this.#table_G6D = table_BT6D.flatten(0, 1);
  }

  /** norm(x) · (1 + scale) + shift, from the rows `at` (shift) and `at` + 1 (scale). */
  norm(x_BTSD: Tensor, at: number): Tensor {
    const fused =
      fusedModulatedNorm(x_BTSD, this.#rows(at), epsilon) ??
      fusedJunction(x_BTSD, { norm: { by: this.#recorded, shift: at }, eps: epsilon })?.normed;
    return (
      fused ??
      plainNorm(x_BTSD)
        .mul(this.#row(at + 1).add(1))
        .add(this.#row(at))
    );
  }

  /** x + gate · looked, and what the feed-forward layer is shown of it. */
  addAndNorm(x_BTSD: Tensor, looked: Tensor): SumAndNorm {
    const gate = { table_GKD: this.#table_G6D, gate: 2 };
    const fused = fusedSumNorm(x_BTSD, looked, { gate, by: this.#rows(3) }, epsilon);
    if (fused) return fused;
    const sum = this.#plainSum(x_BTSD, looked, 2);
    return { sum, normed: this.norm(sum, 3) };
  }

  /** x + gate · looked, and its learned norm. */
  addAndNormBy(norm: LayerNorm, x_BTSD: Tensor, looked: Tensor): SumAndNorm {
    const fused = norm.fusedSum(x_BTSD, looked, { table_GKD: this.#table_G6D, gate: 2 });
    if (fused) return fused;
    const sum = this.#plainSum(x_BTSD, looked, 2);
    return { sum, normed: norm.forward(sum) };
  }

  /** x + read, without a gate, and what the feed-forward layer is shown of it. */
  addPlainAndNorm(x_BTSD: Tensor, read: Tensor): SumAndNorm {
    const fused = fusedSumNorm(x_BTSD, read, { by: this.#rows(3) }, epsilon);
    if (fused) return fused;
    const sum = x_BTSD.add(read.view([...x_BTSD.shape]));
    return { sum, normed: this.norm(sum, 3) };
  }

  /** x + gate · branch, by the row `at`. */
  add(x_BTSD: Tensor, branch: Tensor, at: number): Tensor {
    return fusedGatedSum(x_BTSD, branch, this.#table_G6D, at) ?? this.#plainSum(x_BTSD, branch, at);
  }

  #plainSum(x_BTSD: Tensor, branch: Tensor, at: number): Tensor {
    return x_BTSD.add(this.#row(at).mul(branch.view([...x_BTSD.shape])));
  }

  get #recorded(): RecordedTable {
    const apart = (): readonly Tensor[] => (this.#apart ??= this.#table_G6D.unbind(1));
    return {
      table_G6D: this.#table_G6D,
      get rows() {
        return apart();
      },
    };
  }

  #rows(at: number) {
    return { table_GKD: this.#table_G6D, shift: at, scale: at + 1 };
  }

  /** [B, T or 1, 1, D]. */
  #row(at: number): Tensor {
    return this.#table_BT6D.narrow(2, at, 1);
  }
}
