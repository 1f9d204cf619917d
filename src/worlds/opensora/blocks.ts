/**
 * One STDiT3 block: attention over space or over time, then a feed-forward layer, both modulated by time and action.
 *
 * Zheng et al. 2024, Open-Sora 1.2, https://arxiv.org/abs/2412.20404; action conditioning as in WMPO. The
 * cross-attention to text is in every published file and used by none of our worlds: its weights are kept
 * under their names so that a file survives a round trip, and never run.
 *
 * Shapes: B videos, T frames, S patches per frame, D model width, F feed-forward width, N = B·T or B·S
 * sequences, L tokens in one, H heads, E width of a head.
 */
import {
  attention,
  geluTanh,
  Linear,
  Module,
  type ModuleOptions,
  parameter,
  RMSNorm,
  type RotaryTable,
  rotateInterleaved,
} from "#nn";
import { aten, type Tensor } from "#tensor";

const epsilon = 1e-6;

/** Layer norm without weights, in the input's dtype. */
export const plainNorm = (x: Tensor): Tensor => aten.layer_norm(x, [x.shape.at(-1)!], null, null, epsilon);

class SelfAttention extends Module {
  readonly qkv: Linear;
  readonly q_norm: RMSNorm;
  readonly k_norm: RMSNorm;
  readonly proj: Linear;
  readonly #heads: number;

  constructor(width: number, heads: number, options: ModuleOptions) {
    super();
    this.qkv = new Linear(width, 3 * width, options);
    this.q_norm = new RMSNorm(width / heads, { eps: epsilon, ...options });
    this.k_norm = new RMSNorm(width / heads, { eps: epsilon, ...options });
    this.proj = new Linear(width, width, options);
    this.#heads = heads;
  }

  /** With a rotary table the order of the tokens counts, and none looks ahead. */
  forward(x_NLD: Tensor, rotary?: RotaryTable): Tensor {
    const [sequences = 0, tokens = 0, width = 0] = x_NLD.shape;
    const qkv = this.qkv.forward(x_NLD).view([sequences, tokens, 3, this.#heads, width / this.#heads]);
    const [q_NHLE, k_NHLE, v_NHLE] = qkv.permute([2, 0, 3, 1, 4]).unbind(0);
    let q = this.q_norm.forward(q_NHLE!);
    let k = this.k_norm.forward(k_NHLE!);
    if (rotary) [q, k] = [rotateInterleaved(q, rotary), rotateInterleaved(k, rotary)];
    const mixed_NHLE = attention(q, k, v_NHLE!, { causal: rotary !== undefined });
    return this.proj.forward(mixed_NHLE.transpose(1, 2).reshape([sequences, tokens, width]));
  }
}

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
    return this.fc2.forward(geluTanh(this.fc1.forward(x_BTSD)));
  }
}

export interface BlockModulation {
  readonly time: Tensor; // [B, T or 1, 6·D], of the frames being denoised
  readonly clean: Tensor; // [B, 1, 6·D], of the condition frames
  readonly noisy: Tensor; // bool [B, T, 1, 1], which frames are being denoised
}

export class STDiT3Block extends Module {
  readonly scale_shift_table: Tensor;
  readonly attn: SelfAttention;
  readonly cross_attn: TextAttention;
  readonly mlp: FeedForward;
  readonly #width: number;

  constructor(sizes: { width: number; heads: number; hidden: number }, options: ModuleOptions) {
    super();
    this.scale_shift_table = parameter([6, sizes.width], options);
    this.attn = new SelfAttention(sizes.width, sizes.heads, options);
    this.cross_attn = new TextAttention(sizes.width, options);
    this.mlp = new FeedForward(sizes.width, sizes.hidden, options);
    this.#width = sizes.width;
  }

  /** With a rotary table attention runs over time, else over space. */
  forward(x_BTSD: Tensor, modulation: BlockModulation, rotary?: RotaryTable): Tensor {
    const [shift1, scale1, gate1, shift2, scale2, gate2] = this.#modulation(modulation);
    const seen_BTSD = plainNorm(x_BTSD).mul(scale1!.add(1)).add(shift1!);
    const mixed_BTSD = rotary ? this.#overTime(seen_BTSD, rotary) : this.#overSpace(seen_BTSD);
    const x = x_BTSD.add(gate1!.mul(mixed_BTSD));
    const known_BTSD = plainNorm(x).mul(scale2!.add(1)).add(shift2!);
    return x.add(gate2!.mul(this.mlp.forward(known_BTSD)));
  }

  /** Six [B, T, 1, D]: shift, scale and gate of the attention, then of the feed-forward layer. */
  #modulation({ time, clean, noisy }: BlockModulation): Tensor[] {
    const table_6D = this.scale_shift_table;
    const rows = (t: Tensor): Tensor => t.unflatten(-1, [6, this.#width]).add(table_6D);
    const chosen_BT6D = aten.where(noisy, rows(time), rows(clean));
    return chosen_BT6D.unsqueeze(3).unbind(2);
  }

  #overSpace(x_BTSD: Tensor): Tensor {
    return this.attn.forward(x_BTSD.flatten(0, 1)).view([...x_BTSD.shape]);
  }

  #overTime(x_BTSD: Tensor, rotary: RotaryTable): Tensor {
    const [videos = 0, frames = 0, patches = 0, width = 0] = x_BTSD.shape;
    const x_NTD = x_BTSD.transpose(1, 2).reshape([videos * patches, frames, width]);
    return this.attn.forward(x_NTD, rotary).view([videos, patches, frames, width]).transpose(1, 2);
  }
}
