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
  attention,
  Linear,
  Module,
  type ModuleOptions,
  mergeHeads,
  RMSNorm,
  type RotaryTable,
  rotateInterleaved,
} from "#nn";
import { aten, cat, ones, type Tensor } from "#tensor";

const epsilon = 1e-6;

interface Heads {
  readonly q: Tensor; // [N, H, L, E]
  readonly k: Tensor;
  readonly v: Tensor;
}

/** What memory frames leave for the attention of later frames: keys and values, [B·S, H, M, E]. */
export type Remembered = Pick<Heads, "k" | "v">;

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
    const normed = { q: normalise(this.q_norm, q!), k: normalise(this.k_norm, k!), v: v! };
    if (!rotary) return normed;
    return { q: rotateInterleaved(normed.q, rotary), k: rotateInterleaved(normed.k, rotary), v: normed.v };
  }

  finish(mixed_NHLE: Tensor): Tensor {
    return this.proj.forward(mergeHeads(mixed_NHLE));
  }
}

/** While learning on a GPU, libtorch's fused norm: one kernel each way where the plain operators take twenty. */
const normalise = (norm: RMSNorm, x_NHLE: Tensor): Tensor =>
  x_NHLE.requiresGrad && x_NHLE.device !== "cpu"
    ? aten._fused_rms_norm(x_NHLE, [x_NHLE.shape.at(-1)!], norm.weight, epsilon)[0]!
    : norm.forward(x_NHLE);

/** How a block looks around. */
export type Looking = (by: SelfAttention, x_BTSD: Tensor) => Tensor;

/** Patches of the same frame look at each other. */
export const overSpace: Looking = (by, x_BTSD) => {
  const { q, k, v } = by.project(x_BTSD.flatten(0, 1));
  return by.finish(attention(q, k, v)).view([...x_BTSD.shape]);
};

/** The same patch of different frames; none looks ahead. Leaves its keys and values in `left`, where one is given. */
export const overTime =
  (rotary: RotaryTable, left?: Remembered[]): Looking =>
  (by, x_BTSD) => {
    const { q, k, v } = by.project(timeRows(x_BTSD), rotary);
    left?.push({ k, v });
    return fromTimeRows(by.finish(attention(q, k, v, { causal: true })), x_BTSD.shape);
  };

/** Frames that come after remembered ones: they look at those, and at each other up to themselves. */
export const afterMemory =
  (rotary: RotaryTable, memory: Remembered): Looking =>
  (by, x_BTSD) => {
    const { q, k, v } = by.project(timeRows(x_BTSD), rotary);
    const [before = 0, now = 0] = [memory.k.shape[2], k.shape[2]];
    const mask = ones([now, before + now], { dtype: "bool", device: x_BTSD.device }).tril(before);
    const mixed = attention(q, cat([memory.k, k], 2), cat([memory.v, v], 2), { mask });
    return fromTimeRows(by.finish(mixed), x_BTSD.shape);
  };

const timeRows = (x_BTSD: Tensor): Tensor => x_BTSD.transpose(1, 2).flatten(0, 1);

function fromTimeRows(
  x_NTD: Tensor,
  [videos = 0, frames = 0, patches = 0, width = 0]: readonly number[],
): Tensor {
  return x_NTD.view([videos, patches, frames, width]).transpose(1, 2);
}
