/**
 * Attention of the STDiT3 denoiser, and the ways a block looks around with it: over space, or over time.
 *
 * Time is causal and memory frames are always modulated alike, so what the memory contributes to every attention over
 * time is the same in all denoising steps: it is computed once per chunk (`Remembered`) and the steps run on the new
 * frames alone. Exactly the same numbers, for 84 frame passes instead of 120 in ten steps.
 *
 * Shapes: B videos, T frames, S patches per frame, D model width, N = B·T or B·S sequences, L tokens in one, H heads,
 * E width of a head, M memory frames.
 */

import {
  frameAttentionFits,
  fusedFrameAttention,
  fusedHeadNorm,
  fusedShortAttention,
  shortAttentionFits,
} from "#kernels";
import {
  attention,
  Linear,
  Module,
  type ModuleOptions,
  mergeHeads,
  RMSNorm,
  type RotaryTable,
  rotateInterleaved,
} from "#nn";
import { aten, cat, fusable, kernelFit, ones, stack, type Tensor } from "#tensor";

const epsilon = 1e-6;

interface Heads {
  readonly q: Tensor; // [N, H, L, E]
  readonly k: Tensor;
  readonly v: Tensor;
}

/** What memory frames leave for the attention of later frames: keys and values, [B, M, S, 2, H, E]. */
export type Remembered = Tensor;

/** Rotary angles of all frames, and the number of the first one in work. */
export interface FrameRotary extends RotaryTable {
  readonly first: number;
}

export class SelfAttention extends Module {
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

  project(x_NLD: Tensor, rotary?: RotaryTable): Heads {
    const [sequences = 0, tokens = 0, width = 0] = x_NLD.shape;
    const qkv = this.qkv.forward(x_NLD).view([sequences, tokens, 3, this.#heads, width / this.#heads]);
    const [q, k, v] = qkv.permute([2, 0, 3, 1, 4]).unbind(0);
    const normed = { q: normalize(this.q_norm, q!), k: normalize(this.k_norm, k!), v: v! };
    if (!rotary) return normed;
    return { q: rotateInterleaved(normed.q, rotary), k: rotateInterleaved(normed.k, rotary), v: normed.v };
  }

  /** Queries, keys and values where the linear layer leaves them, [B, T, S, 3, H, E]; null where no kernel fits. */
  projectInPlace(x_BTSD: Tensor, rotary?: FrameRotary): Tensor | null {
    const [videos = 0, frames = 0, patches = 0, width = 0] = x_BTSD.shape;
    const head = width / this.#heads;
    if (head % 8 !== 0 || !fusable(x_BTSD, this.qkv.weight)) return null;
    const qkv = this.qkv.forward(x_BTSD).view([videos, frames, patches, 3, this.#heads, head]);
    const parts = { q: this.q_norm.weight, k: this.k_norm.weight, eps: epsilon };
    return fusedHeadNorm(qkv, rotary ? { ...parts, rotary } : parts);
  }

  /**
   * Attention over the patches of each frame, or over the frames of each patch where they are rotated, while gradients are
   * recorded: heads stay where the linear layer left them. Null where no kernel fits.
   */
  lookShort(x_BTSD: Tensor, rotary?: RotaryTable): Tensor | null {
    const [videos = 0, frames = 0, patches = 0] = x_BTSD.shape;
    const [heads, width] = [this.#heads, this.headWidth];
    const [length, inner] = rotary ? [frames, patches] : [patches, 1];
    const over = { length, causal: rotary !== undefined };
    if (!shortAttentionFits({ ...over, heads, width, rotates: over.causal, norms: true })) return null;
    if (kernelFit(x_BTSD, this.qkv.weight) !== "recorded") return null;
    const qkv = this.qkv.forward(x_BTSD).view([videos, frames, patches, 3, heads, width]);
    const norm = { q_weight: this.q_norm.weight, k_weight: this.k_norm.weight, eps: epsilon };
    const mixed = fusedShortAttention(qkv, { norm, ...over, inner, ...(rotary && { rotary }) });
    return mixed && this.proj.forward(mixed);
  }

  get headWidth(): number {
    return this.qkv.weight.shape[1]! / this.#heads;
  }

  finish(mixed_NHLE: Tensor): Tensor {
    return this.proj.forward(mergeHeads(mixed_NHLE));
  }
}

/** While learning on a GPU, libtorch's fused norm: one kernel each way where the plain operators take twenty. */
const normalize = (norm: RMSNorm, x_NHLE: Tensor): Tensor =>
  x_NHLE.requiresGrad && x_NHLE.device !== "cpu"
    ? aten._fused_rms_norm(x_NHLE, [x_NHLE.shape.at(-1)!], norm.weight, epsilon)[0]!
    : norm.forward(x_NHLE);

/** How a block looks around. */
export type Looking = (by: SelfAttention, x_BTSD: Tensor) => Tensor;

/** Patches of the same frame look at each other. */
export const overSpace: Looking = (by, x_BTSD) => {
  const short = by.lookShort(x_BTSD);
  if (short) return short;
  const qkv = by.projectInPlace(x_BTSD)?.flatten(0, 1).permute([2, 0, 3, 1, 4]).unbind(0);
  const [q, k, v] = qkv ?? Object.values(by.project(x_BTSD.flatten(0, 1)));
  return by.finish(attention(q!, k!, v!)).view([...x_BTSD.shape]);
};

/** The same patch of different frames; none looks ahead. Leaves its keys and values in `left`, where one is given. */
export const overTime =
  (rotary: FrameRotary, left?: Remembered[]): Looking =>
  (by, x_BTSD) => {
    const direct = (left ? null : by.lookShort(x_BTSD, rotary)) ?? overFrames(by, x_BTSD, rotary, { left });
    if (direct) return direct;
    const { q, k, v } = by.project(timeRows(x_BTSD), rotary);
    left?.push(stack([frameRows(k, x_BTSD.shape), frameRows(v, x_BTSD.shape)], 3));
    return fromTimeRows(by.finish(attention(q, k, v, { causal: true })), x_BTSD.shape);
  };

/** Frames that come after remembered ones: they look at those, and at each other up to themselves. */
export const afterMemory =
  (rotary: FrameRotary, past: Remembered): Looking =>
  (by, x_BTSD) => {
    const direct = overFrames(by, x_BTSD, rotary, { past });
    if (direct) return direct;
    const [before = 0, now = 0] = [past.shape[1], x_BTSD.shape[1]];
    const here = { cos: rotary.cos.narrow(0, before, now), sin: rotary.sin.narrow(0, before, now) };
    const { q, k, v } = by.project(timeRows(x_BTSD), here);
    const [k_NHME, v_NHME] = past.unbind(3).map((x) => x.permute([0, 2, 3, 1, 4]).flatten(0, 1));
    const mask = ones([now, before + now], { dtype: "bool", device: x_BTSD.device }).tril(before);
    const mixed = attention(q, cat([k_NHME!, k], 2), cat([v_NHME!, v], 2), { mask });
    return fromTimeRows(by.finish(mixed), x_BTSD.shape);
  };

/** Attention over time by one kernel, without moving frames next to each other; null where it does not fit. */
function overFrames(
  by: SelfAttention,
  x_BTSD: Tensor,
  rotary: FrameRotary,
  { past, left }: { past?: Remembered; left?: Remembered[] | undefined },
): Tensor | null {
  if (!frameAttentionFits(x_BTSD.shape[1]!, past?.shape[1] ?? 0, by.headWidth)) return null;
  const qkv = by.projectInPlace(x_BTSD, rotary);
  if (!qkv) return null;
  left?.push(qkv.narrow(3, 1, 2).contiguous());
  const [q, k, v] = qkv.unbind(3);
  const stride = 3 * x_BTSD.shape[3]!;
  const mixed = fusedFrameAttention(
    { q: q!, k: k!, v: v!, strides: [stride, stride, stride] },
    { past_BMS2HE: past?.contiguous(), causal: true },
  );
  return by.proj.forward(mixed!);
}

const timeRows = (x_BTSD: Tensor): Tensor => x_BTSD.transpose(1, 2).flatten(0, 1);

/** [B·S, H, T, E] to [B, T, S, H, E]. */
const frameRows = (x_NHTE: Tensor, [videos = 0]: readonly number[]): Tensor =>
  x_NHTE.unflatten(0, [videos, -1]).permute([0, 3, 1, 2, 4]);

function fromTimeRows(
  x_NTD: Tensor,
  [videos = 0, frames = 0, patches = 0, width = 0]: readonly number[],
): Tensor {
  return x_NTD.view([videos, patches, frames, width]).transpose(1, 2);
}
