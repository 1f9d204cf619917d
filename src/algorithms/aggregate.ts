/**
 * From a loss per element to one number, the same for any number of micro-batches and ranks.
 *
 * Every element gets a weight, and the weighted sum is divided by a total that is counted over the whole
 * minibatch on all ranks before the first backward pass. Each micro-batch then contributes its share;
 * gradients are summed, over micro-batches and over ranks.
 *
 * `seq-mean-token-mean` is what the reference computes whatever its setting says: mean over all elements of
 * L · max_episode_steps / L_j · mask, L_j the valid actions of the element's episode. Masked and filtered
 * elements stay in its denominator.
 *
 * Shapes: elements [M, P, Q]: P actions (or 1), Q numbers per action (or 1). Masks [M, A], A = P or 1.
 */
import type { Minibatch } from "#data";
import { scope, type Tensor } from "#tensor";
import type { AlgorithmSettings } from "./settings.ts";

type Aggregation = AlgorithmSettings["loss_agg_func"];

/** What the weights need to know about the run. */
export interface Horizon {
  readonly maxEpisodeSteps: number; // actions
  readonly decisions: number; // T: chunk decisions per column
}

type MaskedSamples = Pick<Minibatch, "mask" | "episodeActions">;

/** Σ weight · element / total: one micro-batch's share of the minibatch's loss. */
export function aggregate(
  elements: Tensor,
  samples: MaskedSamples,
  { settings, horizon }: { settings: Pick<AlgorithmSettings, "loss_agg_func">; horizon: Horizon },
  total: number,
): Tensor {
  const weight = weights(samples, settings.loss_agg_func, horizon);
  return (weight ? elements.mul(weight) : elements).sum().div(Math.max(total, 1e-12));
}

/** This rank's part of the total for `aggregate`, for elements of the given shape. */
export function countFor(
  shape: readonly number[],
  samples: MaskedSamples,
  how: Aggregation,
  horizon: Horizon,
): number {
  const [size = 0, actions = 1, numbers = 1] = shape;
  if (how === "seq-mean-token-sum") return size / horizon.decisions;
  const { mask, episodeActions } = samples;
  if (!mask || (how === "seq-mean-token-mean" && episodeActions)) return size * actions * numbers;
  return validElements(shape, mask);
}

/** How many elements a mask [M, A] leaves of [M, P, Q]. */
export function validElements(shape: readonly number[], mask: Tensor | undefined): number {
  const [size = 0, actions = 1, numbers = 1] = shape;
  if (!mask) return size * actions * numbers;
  const valid = scope(() => Number(mask.long().sum().item()));
  return valid * (actions / (mask.shape[1] ?? 1)) * numbers;
}

function weights(
  { mask, episodeActions }: MaskedSamples,
  how: Aggregation,
  horizon: Horizon,
): Tensor | undefined {
  if (!mask) return undefined;
  const valid = mask.float().unsqueeze(2); // [M, A, 1]
  if (how !== "seq-mean-token-mean" || !episodeActions) return valid;
  const stretch = episodeActions.clamp(1).reciprocal().mul(horizon.maxEpisodeSteps); // [M, 1]
  return valid.mul(stretch.unsqueeze(2));
}
