/**
 * Choosing action tokens, and judging chosen ones, by the same steps in the same order.
 *
 * Only the slice of the vocabulary that means actions takes part: temperature first, then top-k, then softmax,
 * all in float32. The reference filters in one order when it acts and in another when it trains, which
 * can turn a sampled token's log-probability into −∞, and its entropy has a NaN gradient; neither happens here.
 *
 * Shapes: B batch, A action tokens, V action ids.
 */
import { aten, type Generator, multinomial, noGrad, rand, scope, stack, type Tensor } from "#tensor";

export interface Sampling {
  readonly temperature: number;
  /** How many of the likeliest ids stay possible; 0 or less means all. */
  readonly topK: number;
}

export interface Judgment {
  readonly logProbs_BA: Tensor; // float32
  readonly entropy_BA: Tensor | undefined; // float32, nats
}

/** Log-probabilities of every action id, float32 [B, A, V]; −∞ where top-k forbids. */
export function logDistribution(logits_BAV: Tensor, { temperature, topK }: Sampling): Tensor {
  const scaled_BAV = logits_BAV.float().div(temperature);
  const V = scaled_BAV.shape[2] ?? 0;
  if (topK <= 0 || topK >= V) return scaled_BAV.logSoftmax(2);
  const [best_BAK] = scaled_BAV.topk(topK, 2) as [Tensor, Tensor];
  const least_BA1 = best_BAK.narrow(2, topK - 1, 1).detach();
  return scaled_BAV.maskedFill(scaled_BAV.lt(least_BA1), Number.NEGATIVE_INFINITY).logSoftmax(2);
}

/**
 * One id per position, counted from the first action id: int64 [B, A].
 *
 * With a generator per row, a row's draw depends on nothing but its own generator and distribution: not on how large the batch is, nor
 * on which device it is computed. That is what lets a run be the same with any number of workers.
 */
export function sampleTokens(logProbs_BAV: Tensor, generator?: Generator | readonly Generator[]): Tensor {
  if (isPerRow(generator)) return sampleRows(logProbs_BAV, generator);
  const [B = 0, A = 0, V = 0] = logProbs_BAV.shape;
  const flat = logProbs_BAV.exp().reshape([B * A, V]);
  return multinomial(flat, 1, true, generator).view([B, A]);
}

const isPerRow = (given: Generator | readonly Generator[] | undefined): given is readonly Generator[] =>
  Array.isArray(given);

/** By inverting the distribution function: the first id whose cumulative probability exceeds a uniform number. */
function sampleRows(logProbs_BAV: Tensor, generators: readonly Generator[]): Tensor {
  const [B = 0, A = 0] = logProbs_BAV.shape;
  if (generators.length !== B) throw new Error(`internal: ${generators.length} generators for ${B} rows`);
  const uniform_BA1 = stack(generators.map((generator) => rand([A, 1], { generator })));
  const cumulative_BAV = logProbs_BAV.double().exp().cumsum(2);
  const total_BA1 = cumulative_BAV.narrow(2, cumulative_BAV.size(2) - 1, 1);
  const aim_BA1 = uniform_BA1.double().to({ device: logProbs_BAV.device }).mul(total_BA1);
  const last = cumulative_BAV.size(2) - 1; // probabilities that are not numbers must not point past the end
  return aten.searchsorted(cumulative_BAV, aim_BA1, { right: true }).squeeze(2).clamp(null, last);
}

/** Entropies that are only `measured` send no gradient, and their graph is not kept. */
export function judge(logProbs_BAV: Tensor, tokens_BA: Tensor, entropy?: "learned" | "measured"): Judgment {
  const logProbs_BA = logProbs_BAV.gather(2, tokens_BA.unsqueeze(2)).squeeze(2);
  if (!entropy) return { logProbs_BA, entropy_BA: undefined };
  const entropy_BA =
    entropy === "learned" ? entropyOf(logProbs_BAV) : noGrad(() => scope(() => entropyOf(logProbs_BAV)));
  return { logProbs_BA, entropy_BA };
}

/** −Σ p·log p, where an impossible id (log p = −∞) counts 0 and sends no gradient. */
function entropyOf(logProbs_BAV: Tensor): Tensor {
  const finite_BAV = logProbs_BAV.maskedFill(logProbs_BAV.eq(Number.NEGATIVE_INFINITY), 0);
  return logProbs_BAV.exp().mul(finite_BAV).sum(2).neg();
}
