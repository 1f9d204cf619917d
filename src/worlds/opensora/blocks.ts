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
import { Linear, Module, type ModuleOptions, parameter } from "#nn";
import { type Tensor, where } from "#tensor";
import { SixRows } from "../modulation.ts";
import { type Looking, SelfAttention } from "./attention.ts";

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
    const six = new SixRows(this.#modulation(modulation));
    const looked = look(this.attn, six.norm(x_BTSD, 0));
    const { sum, normed } = six.addAndNorm(x_BTSD, looked);
    return six.add(sum, this.mlp.forward(normed), 5);
  }

  /** [B, T or 1, 6, D]: shift, scale and gate of the attention, then of the feed-forward layer. */
  #modulation({ time, mixed }: BlockModulation): Tensor {
    const rows = (t: Tensor): Tensor => t.unflatten(-1, [6, this.#width]).add(this.scale_shift_table);
    return mixed ? where(mixed.noisy, rows(time), rows(mixed.clean)) : rows(time);
  }
}
