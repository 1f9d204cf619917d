/**
 * Who looks at whom: attention within the prefix, and from the suffix to both, with the masks that say so.
 *
 * Shapes: B batch, P prefix tokens, S suffix tokens.
 */
import { attention } from "#nn";
import { cat, type DType, ones, type Tensor } from "#tensor";
import type { GemmaLayer, Prepared } from "./gemma.ts";

/** Adds to the score of a pair that may not look: far beyond any score, and far from overflow in every type. */
const forbidden = -1e30;

/** Which part of a prefix there is to see. */
export interface Seen {
  /** Which tokens are real, bool [B, P]; undefined when all are. */
  readonly mask_BP: Tensor | undefined;
  /** How many are real: where the suffix's positions begin. */
  readonly length_B1: Tensor; // int64
  /** P. */
  readonly tokens: number;
}

type Heads = Pick<Prepared, "queries" | "keys" | "values">;

export function fused(
  { queries, keys, values }: Heads,
  mask: Tensor | undefined,
  { self_attn }: GemmaLayer,
): Tensor {
  return attention(queries, self_attn.spread(keys), self_attn.spread(values), { mask });
}

/**
 * Attention spelled out, for training what a critic reads of padding: fused kernels keep only the logarithm of a
 * row's sum, which a forbidden score swallows, and their gradients of such rows are wrong.
 */
export function plainly(
  { queries, keys, values }: Heads,
  mask: Tensor | undefined,
  { self_attn }: GemmaLayer,
): Tensor {
  const { dtype } = queries;
  const scores = queries.matmul(self_attn.spread(keys).transpose(2, 3)).mul(queries.size(3) ** -0.5);
  const shares = (mask ? scores.add(mask) : scores).float().softmax(3).to({ dtype });
  return shares.matmul(self_attn.spread(values));
}

/**
 * Where PaliGemma's answer is read, padding's answers are read too (by the critic), and the reference lets padding
 * look at everything alike: a forbidden score swallows the real one. Elsewhere it is enough to hide padding's keys.
 */
export function prefixMask(mask_BP: Tensor, dtype: DType, whole: boolean): Tensor {
  const keys_B11P = mask_BP.unsqueeze(1).unsqueeze(1);
  if (!whole) return keys_B11P;
  const pairs_B1PP = keys_B11P.logicalAnd(mask_BP.unsqueeze(1).unsqueeze(3));
  return pairs_B1PP.logicalNot().to({ dtype }).mul(forbidden);
}

/** bool [B or 1, 1, S, P + S], or nothing when everybody sees everything. */
export function suffixMask({ mask_BP, length_B1, tokens: P }: Seen, sees_SS: Tensor | undefined, S: number) {
  if (!mask_BP && !sees_SS) return undefined;
  const yes_111 = ones([1, 1, 1], { dtype: "bool", device: length_B1.device });
  const rows = mask_BP?.size(0) ?? 1;
  const ofPrefix = (mask_BP?.unsqueeze(1) ?? yes_111).expand([rows, S, P]);
  const ofSuffix = (sees_SS?.unsqueeze(0) ?? yes_111).expand([rows, S, S]);
  return cat([ofPrefix, ofSuffix], 2).unsqueeze(1);
}
