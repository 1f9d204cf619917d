/**
 * Whether an update has left a policy that is worth keeping. The rule, which docs/checkpoints.md states too:
 *
 * - all weights are finite (those that are not trained were looked at when they were loaded);
 * - loss and gradient norm of the step are finite;
 * - the mean log-ratio between the policy before and after the step (`train/actor/approx_kl`) is at most 100: beyond it the policy gives
 *   what it has just done e^-100 of its probability, and no clipping brings it back;
 * - the norm of the trained weights is at most 10 times what it was at the last checkpoint. One update is enough to ruin a policy without
 *   a trace in the log-ratio, which is measured before it; Adam moves every weight by about the learning rate.
 */
import { findNotFinite, globalNorm, noGrad, scope, type Tensor } from "#tensor";
import type { Learned } from "#workers";

const largestKl = 100;
const largestGrowth = 10;

export type Weights = ReadonlyMap<string, Tensor>;

/** What is wrong with a step's updates, in words. Updates that were not taken are not judged: they have changed nothing. */
export function updateFault({ metrics, skipped }: Learned): string | undefined {
  if (skipped > 0) return undefined;
  const [loss, norm, kl] = ["train/loss", "train/actor/grad_norm", "train/actor/approx_kl"].map(
    (name) => metrics[name] ?? 0,
  ) as [number, number, number];
  if (!Number.isFinite(loss)) return `its loss is ${loss}`;
  if (!Number.isFinite(norm)) return `its gradient norm is ${norm}`;
  if (Math.abs(kl) <= largestKl) return undefined;
  return `it moved the policy by an approximate KL of ${short(kl)}, and ${largestKl} is already absurd`;
}

/** Remembers how large the trained weights were when they were last kept. */
export class WeightWatch {
  #norm: number;

  constructor(trained: Weights) {
    this.#norm = normOf(trained);
  }

  /** What is wrong with the weights, in words. */
  fault(trained: Weights): string | undefined {
    const bad = findNotFinite(trained);
    if (bad) return `it left ${bad.what} in ${bad.name}`;
    const norm = normOf(trained);
    if (this.#norm === 0 || norm <= largestGrowth * this.#norm) return undefined;
    return `the norm of the trained weights is ${short(norm)}, and was ${short(this.#norm)} when they were last known to be good`;
  }

  /** These were kept, and are the measure from now on. */
  kept(trained: Weights): void {
    this.#norm = normOf(trained);
  }
}

const normOf = (weights: Weights): number =>
  noGrad(() => scope(() => Number(globalNorm([...weights.values()]).item())));

const short = (value: number): string => String(Number(value.toPrecision(3)));
