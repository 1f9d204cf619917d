/**
 * One STDiT3 block: attention over space or over time, then a feed-forward layer, both modulated by time and action.
 *
 * Zheng et al. 2024, Open-Sora 1.2, https://arxiv.org/abs/2412.20404; action conditioning as in WMPO. The
 * cross-attention to text is in every published file and used by none of our worlds: its weights are kept
 * under their names so that a file survives a round trip, and never run.
 *
 * Shapes: B videos, T frames, S patches per frame, D model width, F feed-forward width, N = B·T or B·S
 * sequences.
 */
import {
  fusedGatedNorm,
  fusedGatedSum,
  fusedModulatedNorm,
  Linear,
  Module,
  type ModuleOptions,
  parameter,
} from "#nn";
import { aten, type Tensor, where } from "#tensor";
import { type Looking, SelfAttention } from "./attention.ts";

export const epsilon = 1e-6;

/** Layer norm without weights, in the input's dtype. */
export const plainNorm = (x: Tensor): Tensor => aten.layer_norm(x, [x.shape.at(-1)!], null, null, epsilon);

/** In the files, never run: what is left of the text-to-video model. */
class TextAttention extends Module {
  readonly q_linear: Linear;
  readonly kv_linear: Linear;
  readonly proj: Linear;

  constructor(width: number, options: ModuleOptions) {
    super();
    this.q_linear = new Linear(width, width, options);
    this.kv_linear = new Linear(width, 2 * width, options);
    this.proj = new Linear(width, width, options);
  }
}

class FeedForward extends Module {
  readonly fc1: Linear;
  readonly fc2: Linear;

  constructor(width: number, hidden: number, options: ModuleOptions) {
    super();
    this.fc1 = new Linear(width, hidden, options);
    this.fc2 = new Linear(hidden, width, options);
  }

  forward(x_BTSD: Tensor): Tensor {
    return this.fc2.forward(this.fc1.forwardGeluTanh(x_BTSD));
  }
}

/** What time and actions say to a block. */
export interface BlockModulation {
  readonly time: Tensor; // [B, T or 1, 6·D]
  /** Where some of the frames are clean: what those are told instead, and which frames are not. */
  readonly mixed?: { readonly clean: Tensor; readonly noisy: Tensor }; // [B, 1, 6·D], bool [B, T, 1, 1]
}

export class STDiT3Block extends Module {
  readonly scale_shift_table: Tensor;
  readonly attn: SelfAttention;
  readonly cross_attn?: TextAttention;
  readonly mlp: FeedForward;
  readonly #width: number;

  constructor(
    sizes: { width: number; heads: number; hidden: number; text: boolean },
    options: ModuleOptions,
  ) {
    super();
    this.scale_shift_table = parameter([6, sizes.width], options);
    this.attn = new SelfAttention(sizes.width, sizes.heads, options);
    if (sizes.text) this.cross_attn = new TextAttention(sizes.width, options);
    this.mlp = new FeedForward(sizes.width, sizes.hidden, options);
    this.#width = sizes.width;
  }

  forward(x_BTSD: Tensor, modulation: BlockModulation, look: Looking): Tensor {
    const told = new Told(this.#modulation(modulation));
    const looked = look(this.attn, told.norm(x_BTSD, 0));
    const { sum, normed } = told.addAndNorm(x_BTSD, looked);
    return told.add(sum, this.mlp.forward(normed));
  }

  /** [B, T or 1, 6, D]: shift, scale and gate of the attention, then of the feed-forward layer. */
  #modulation({ time, mixed }: BlockModulation): Tensor {
    const rows = (t: Tensor): Tensor => t.unflatten(-1, [6, this.#width]).add(this.scale_shift_table);
    return mixed ? where(mixed.noisy, rows(time), rows(mixed.clean)) : rows(time);
  }
}

/** What a block does with its six rows of modulation: by one kernel where one fits, by plain operators elsewhere. */
class Told {
  readonly #table_BT6D: Tensor;
  readonly #table_G6D: Tensor;

  constructor(table_BT6D: Tensor) {
    this.#table_BT6D = table_BT6D;
    this.#table_G6D = table_BT6D.flatten(0, 1);
  }

  /** norm(x) · (1 + scale) + shift, from the rows `at` (shift) and `at` + 1 (scale). */
  norm(x_BTSD: Tensor, at: number): Tensor {
    const rows = { table_GKD: this.#table_G6D, shift: at, scale: at + 1 };
    const fused = fusedModulatedNorm(x_BTSD, rows, epsilon);
    return (
      fused ??
      plainNorm(x_BTSD)
        .mul(this.#row(at + 1).add(1))
        .add(this.#row(at))
    );
  }

  /** x + gate · looked, and what the feed-forward layer is shown of it. */
  addAndNorm(x_BTSD: Tensor, looked_BTSD: Tensor): { sum: Tensor; normed: Tensor } {
    const rows = { table_GKD: this.#table_G6D, shift: 3, scale: 4 };
    const fused = fusedGatedNorm(x_BTSD, looked_BTSD, 2, rows, epsilon);
    if (fused) return fused;
    const sum = x_BTSD.add(this.#row(2).mul(looked_BTSD));
    return { sum, normed: this.norm(sum, 3) };
  }

  add(x_BTSD: Tensor, thought_BTSD: Tensor): Tensor {
    const fused = fusedGatedSum(x_BTSD, thought_BTSD, this.#table_G6D, 5);
    return fused ?? x_BTSD.add(this.#row(5).mul(thought_BTSD));
  }

  /** [B, T or 1, 1, D]. */
  #row(at: number): Tensor {
    return this.#table_BT6D.narrow(2, at, 1);
  }
}
