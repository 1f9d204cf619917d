/**
 * Scaled dot-product attention, and the shuffling of heads around it.
 *
 * Shapes: B batch, L queries, S keys, N heads, H head width, D = N · H.
 */
import { fast, type Tensor } from "#tensor";

const sdpa = fast("aten::scaled_dot_product_attention");

export interface AttentionOptions {
  /** Boolean (true = may look) or additive, broadcast to [B, N, L, S]. */
  readonly mask?: Tensor | null | undefined;
  readonly causal?: boolean;
  /** Instead of 1 / sqrt(H). */
  readonly scale?: number | undefined;
}

/** softmax(q kᵀ / sqrt(H)) v over [B, N, L, H]. */
export function attention(
  q_BNLH: Tensor,
  k_BNSH: Tensor,
  v_BNSH: Tensor,
  { mask = null, causal = false, scale }: AttentionOptions = {},
): Tensor {
  // dropout 0; the last two are keyword-only in the schema and positional on the fast path
  const call = sdpa as (...args: unknown[]) => Tensor;
  return call(q_BNLH, k_BNSH, v_BNSH, mask, 0, causal, scale ?? null);
}

/** [B, L, N·H] → [B, N, L, H] */
export const splitHeads = (x_BLD: Tensor, heads: number): Tensor => {
  const [batch = 0, length = 0, width = 0] = x_BLD.shape;
  return x_BLD.view([batch, length, heads, width / heads]).transpose(1, 2);
};

/** [B, N, L, H] → [B, L, N·H] */
export const mergeHeads = (x_BNLH: Tensor): Tensor => x_BNLH.transpose(1, 2).flatten(2);
