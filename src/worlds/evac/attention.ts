/**
 * The transformer layers inside EVAC's UNet: over the pixels of a frame, and over the frames of a pixel.
 *
 * Rombach et al. 2022, https://arxiv.org/abs/2112.10752; He et al. (EnerVerse), https://arxiv.org/abs/2501.01895.
 * In a frame, a layer also attends to conditions: to the actions in even layers, to the first picture in odd ones.
 * The plain `to_k` and `to_v` of those layers are in the files and do nothing.
 *
 * Shapes: B videos, T frames, N sequences, L tokens, M memory tokens, C channels, H heads, E head width.
 */
import {
  type AttentionSizes,
  frameAttentionFits,
  fusedFrameAttention,
  fusedGatedGelu,
  fusedShortAttention,
  shortAttentionFits,
} from "#kernels";
import { attention, gelu, LayerNorm, Linear, Module, type ModuleOptions, mergeHeads, splitHeads } from "#nn";
import { aten, cat, kernelFit, type Tensor } from "#tensor";

/** What a frame layer attends to besides itself: [B, M, context width], the same for every frame of a video. */
export interface Conditions {
  readonly image: Tensor;
  readonly actions: Tensor;
}

const bare = (inputs: number, outputs: number, options: ModuleOptions): Linear =>
  new Linear(inputs, outputs, { bias: false, ...options });

class SelfAttention extends Module {
  readonly to_q: Linear;
  readonly to_k: Linear;
  readonly to_v: Linear;
  readonly to_out: { readonly "0": Linear };
  readonly heads: number;

  constructor(width: number, context: number, heads: number, options: ModuleOptions) {
    super();
    this.to_q = bare(width, width, options);
    this.to_k = bare(context, width, options);
    this.to_v = bare(context, width, options);
    this.to_out = { "0": new Linear(width, width, options) };
    this.heads = heads;
  }

  forward(x_NLC: Tensor): Tensor {
    const learning = this.#whileLearning(x_NLC, x_NLC.shape[1]!, 1);
    return learning ?? this.mix(this.to_q.forward(x_NLC), this.to_k.forward(x_NLC), this.to_v.forward(x_NLC));
  }

  /** Whether `acrossFrames` has a kernel for [B, T, L, C]. */
  fitsAcrossFrames(x_BTLC: Tensor): boolean {
    const [, frames = 0] = x_BTLC.shape;
    const kind = kernelFit(x_BTLC, this.to_q.weight);
    if (kind === "free") return frameAttentionFits(frames, 0, this.#headWidth);
    return kind === "recorded" && shortAttentionFits(this.#shortSizes(frames));
  }

  /** Over the frames of each pixel where they lie, [B, T, L, C]; for layers that `fitsAcrossFrames` allows. */
  acrossFrames(x_BTLC: Tensor): Tensor {
    const learning = this.#whileLearning(x_BTLC, x_BTLC.shape[1]!, x_BTLC.shape[2]!);
    if (learning) return learning;
    const width = x_BTLC.shape[3]!;
    const heads = (to: Linear): Tensor => to.forward(x_BTLC).unflatten(3, [this.heads, -1]);
    const parts = { q: heads(this.to_q), k: heads(this.to_k), v: heads(this.to_v) };
    const mixed = fusedFrameAttention({ ...parts, strides: [width, width, width] }, { causal: false });
    if (!mixed) throw new Error("internal: frames do not fit the kernel that was chosen for them");
    return this.to_out["0"].forward(mixed);
  }

  /** With gradients recorded, heads where one linear layer left them; null where no kernel fits. */
  #whileLearning(x: Tensor, length: number, inner: number): Tensor | null {
    if (!shortAttentionFits(this.#shortSizes(length)) || kernelFit(x, this.to_q.weight) !== "recorded")
      return null;
    const weights = cat([this.to_q.weight, this.to_k.weight, this.to_v.weight], 0);
    const qkv = aten.linear(x, weights).unflatten(-1, [3, this.heads, this.#headWidth]);
    const mixed = fusedShortAttention(qkv, { length, inner, causal: false });
    return mixed && this.to_out["0"].forward(mixed);
  }

  get #headWidth(): number {
    return this.to_q.weight.shape[0]! / this.heads;
  }

  #shortSizes(length: number): AttentionSizes {
    const { heads } = this;
    return { length, heads, width: this.#headWidth, causal: false, rotates: false, norms: false };
  }

  protected mix(q: Tensor, k: Tensor, v: Tensor): Tensor {
    const [q_NHLE, k_NHME, v_NHME] = [q, k, v].map((x) => splitHeads(x, this.heads));
    return this.to_out["0"].forward(mergeHeads(attention(q_NHLE!, k_NHME!, v_NHME!)));
  }
}

class ConditionAttention extends SelfAttention {
  readonly to_k_ip: Linear;
  readonly to_v_ip: Linear;
  readonly to_k_tp: Linear;
  readonly to_v_tp: Linear;
  readonly #toActions: boolean;

  constructor(width: number, context: number, heads: number, index: number, options: ModuleOptions) {
    super(width, context, heads, options);
    this.to_k_ip = bare(context, width, options);
    this.to_v_ip = bare(context, width, options);
    this.to_k_tp = bare(context, width, options);
    this.to_v_tp = bare(context, width, options);
    this.#toActions = index % 2 === 0;
  }

  /** All frames of a video share its conditions, so their pixels are one long sequence of queries. */
  attend(x_NLC: Tensor, { image, actions }: Conditions): Tensor {
    const memory = this.#toActions ? actions : image;
    const [toK, toV] = this.#toActions ? [this.to_k_tp, this.to_v_tp] : [this.to_k_ip, this.to_v_ip];
    const [, tokens = 0, width = 0] = x_NLC.shape;
    const queries = this.to_q.forward(x_NLC).view([memory.shape[0]!, -1, width]);
    return this.mix(queries, toK.forward(memory), toV.forward(memory)).view([-1, tokens, width]);
  }
}

/** A gated feed-forward layer. Shazeer 2020, https://arxiv.org/abs/2002.05202. */
class GatedGelu extends Module {
  readonly net: { readonly "0": GateProjection; readonly "2": Linear };

  constructor(width: number, options: ModuleOptions) {
    super();
    this.net = {
      "0": new GateProjection(width, 4 * width, options),
      "2": new Linear(4 * width, width, options),
    };
  }

  forward(x_NLC: Tensor): Tensor {
    const both = this.net["0"].proj.forward(x_NLC);
    return this.net["2"].forward(fusedGatedGelu(both) ?? gated(both));
  }
}

function gated(both: Tensor): Tensor {
  const [value, gate] = both.chunk(2, -1);
  return value!.mul(gelu(gate!));
}

class GateProjection extends Module {
  readonly proj: Linear;

  constructor(inputs: number, outputs: number, options: ModuleOptions) {
    super();
    this.proj = new Linear(inputs, 2 * outputs, options);
  }
}

interface LayerSizes {
  readonly width: number;
  readonly heads: number;
  /** Of a layer that attends to conditions: their width, and the layer's number in the network. */
  readonly conditions?: { readonly width: number; readonly index: number };
}

export class TransformerLayer extends Module {
  readonly attn1: SelfAttention;
  readonly ff: GatedGelu;
  readonly attn2: SelfAttention;
  readonly norm1: LayerNorm;
  readonly norm2: LayerNorm;
  readonly norm3: LayerNorm;

  constructor({ width, heads, conditions }: LayerSizes, options: ModuleOptions) {
    super();
    this.attn1 = new SelfAttention(width, width, heads, options);
    this.ff = new GatedGelu(width, options);
    this.attn2 = conditions
      ? new ConditionAttention(width, conditions.width, heads, conditions.index, options)
      : new SelfAttention(width, width, heads, options);
    this.norm1 = new LayerNorm(width, options);
    this.norm2 = new LayerNorm(width, options);
    this.norm3 = new LayerNorm(width, options);
  }

  /** Without conditions the second attention looks at the sequence itself, like the first. */
  forward(x_NLC: Tensor, conditions?: Conditions): Tensor {
    return this.#run(x_NLC, (by, x) =>
      conditions && by instanceof ConditionAttention ? by.attend(x, conditions) : by.forward(x),
    );
  }

  /** Both attentions over the frames of each pixel, [B, T, L, C]. */
  acrossFrames(x_BTLC: Tensor): Tensor {
    return this.#run(x_BTLC, (by, x) => by.acrossFrames(x));
  }

  #run(x: Tensor, look: (by: SelfAttention, x: Tensor) => Tensor): Tensor {
    const first = this.norm2.forwardSum(x, look(this.attn1, this.norm1.forward(x)));
    const second = this.norm3.forwardSum(first.sum, look(this.attn2, first.normed));
    return second.sum.add(this.ff.forward(second.normed));
  }
}
