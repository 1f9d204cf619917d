/**
 * Attention of short sequences while a network learns, straight from packed queries, keys and values: norm of every head, rotation,
 * attention in one kernel, all gradients in another, for bfloat16 on a GPU.
 *
 * Library kernels want the heads moved apart and the frames of a patch moved together, and give three gradients that must be packed
 * again; for a dozen frames or a few dozen patches the moving costs more than the attention. Here a sequence's rows are read where
 * the linear layer left them, whole into shared memory, and products go through tensor cores, in tiles of 16. The way back computes
 * the way there again instead of reading it. No atomics: the same bits every time. Forward it rounds where `fusedHeadNorm` does.
 *
 * Shapes: N sequences of L tokens (at most 64), H heads, E head width (a multiple of 16, at most 64), D = H · E. Token l of sequence n is
 * number (n / inner) · L · inner + l · inner + n mod inner of qkv [tokens, 3, H, E]: inner 1 for patches of a frame, S for frames of a patch.
 */
import { empty, kernelFit, type Tensor, withGradients } from "#tensor";
import {
  type AttentionSizes,
  layout,
  shortAttentionFits,
  shortAttentionGradientSource,
  shortAttentionSource,
} from "./attention-source.ts";
import { columnSums } from "./column-sums.ts";
import { type KernelPair, kernelPair } from "./kernel-pair.ts";

export { type AttentionSizes, shortAttentionFits };

/** Names the two kernels of these sizes; exported for tests that run their sources elsewhere. */
export function shortAttentionKernels(sizes: AttentionSizes): KernelPair {
  const { length, heads, width, causal, rotates, norms } = sizes;
  const kind = `${causal ? "_causal" : ""}${rotates ? "_rotated" : ""}${norms ? "" : "_plain"}`;
  return kernelPair(
    `short_attention_${length}_${heads}_${width}${kind}`,
    (name) => shortAttentionSource(name, sizes),
    (name) => shortAttentionGradientSource(name, sizes),
  );
}

/** Blocks and threads of both kernels, for so many sequences. */
export function shortAttentionGrid(sizes: AttentionSizes, sequences: number) {
  const { units, perUnit } = layout(sizes);
  return { blocks: Math.ceil((sequences * sizes.heads) / units), threads: units * perUnit };
}

export interface ShortAttention {
  /** Of the norms of every query and every key head, where there are any: weights [E]. */
  readonly norm?: { readonly q_weight: Tensor; readonly k_weight: Tensor; readonly eps: number };
  /** Tokens of a sequence, and how many tokens lie between two of them. */
  readonly length: number;
  readonly inner: number;
  readonly causal: boolean;
  /** bfloat16 tables [L, E/2]. */
  readonly rotary?: { readonly cos: Tensor; readonly sin: Tensor };
}

/** [B, T, S, 3, H, E] to [B, T, S, H·E], recorded for gradients; null where no kernel fits. */
export function fusedShortAttention(qkv: Tensor, how: ShortAttention): Tensor | null {
  const { norm, length, inner, causal, rotary } = how;
  const [heads = 0, width = 0] = qkv.shape.slice(-2);
  const sizes = { length, heads, width, causal, rotates: rotary !== undefined, norms: norm !== undefined };
  const weights = norm ? [norm.q_weight, norm.k_weight] : [];
  const tables = rotary ? [rotary.cos, rotary.sin] : [];
  if (!shortAttentionFits(sizes) || kernelFit(qkv, ...weights, ...tables) !== "recorded") return null;
  const { forward, backward } = shortAttentionKernels(sizes);
  const sequences = qkv.numel / (3 * heads * width * length);
  const size = shortAttentionGrid(sizes, sequences);
  const out = empty([...qkv.shape.slice(0, -3), heads * width], { dtype: "bfloat16", device: qkv.device });
  const two = (given: readonly Tensor[]): readonly Tensor[] => (given.length > 0 ? given : [qkv, qkv]); // never read
  const read = [qkv, ...two(weights), ...two(tables)];
  const numbers = [{ int: sequences * heads }, { int: inner }, { float: norm?.eps ?? 0 }];
  forward(size, [...read, out, ...numbers]);
  const args = [...read, { gradOutput: 0 }, { gradInput: 0 }, { scratch: 0 }, ...numbers];
  const launches = [{ kernel: backward, size, args }];
  if (!norm) return withGradients([out], [qkv], launches, [1])[0]!;
  const sums = columnSums(size.blocks, [width, width], [1, 2]);
  return withGradients([out], [qkv, ...weights], [...launches, sums], [size.blocks * 2 * width])[0]!;
}
