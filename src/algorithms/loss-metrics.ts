/**
 * The numbers that a training step reports, defined per element.
 *
 * Micro-batches add up plain sums; the quotients are formed once, over all elements of the step and all
 * ranks. So a metric does not depend on how the batch was cut, and a mask with fewer dimensions than the
 * elements cannot inflate it (the reference divides token sums by action counts). The names are the seeds'; their aliases are added where metrics are written.
 */
import { type Device, stack, type Tensor, zeros } from "#tensor";
import type { RatioClip } from "./ratio-clip.ts";
import type { ValueLoss } from "./value-loss.ts";

/** What a step adds up, in order. */
const sumNames = [
  ...["elements", "ratio", "ratioDistance", "clippedRatio", "outside", "dualRatio", "logRatio"],
  ...["policyLoss", "policyLossAbs", "totalLoss", "valueLoss", "entropy", "entropyElements", "referenceKl"],
  ...["valueElements", "valueOutside", "returns", "returnsSquared", "errors", "errorsSquared", "ratios"],
] as const;
type SumName = (typeof sumNames)[number];
/** Parts of a micro-batch; those that its loss does not have are 0. */
export type LossSums = Readonly<Partial<Record<SumName, Tensor | number>>>;

export const lossSumCount = sumNames.length;

/** float64 [lossSumCount], on the loss's device: one small tensor, so that nothing waits for the GPU. */
export function stackSums(sums: LossSums, device: Device): Tensor {
  const zero = zeros([], { dtype: "float64", device });
  return stack(
    sumNames.map((name) => {
      const sum = sums[name] ?? 0;
      return typeof sum === "number" ? zero.add(sum) : sum.detach().double();
    }),
  );
}

export function ratioSums(
  { ratio, logRatio, clipped, outside, dual }: RatioClip,
  mask: Tensor | undefined,
): LossSums {
  const valid = mask?.unsqueeze(2);
  const over = (x: Tensor): Tensor => (valid ? x.double().mul(valid) : x.double()).sum();
  return {
    ratios: ratio.shape[0] ?? 0, // samples whose loss has ratios, valid or not
    elements: countValid(ratio.shape, mask),
    ratio: over(ratio),
    ratioDistance: over(ratio.sub(1).abs()),
    clippedRatio: over(clipped),
    outside: over(outside),
    dualRatio: over(ratio.mul(dual)),
    logRatio: over(logRatio),
  };
}

/** As `validElements` (aggregate.ts), but left on the device: a micro-batch must not wait for it. */
function countValid(
  [size = 0, actions = 1, numbers = 1]: readonly number[],
  mask: Tensor | undefined,
): Tensor | number {
  if (!mask) return size * actions * numbers;
  return mask
    .double()
    .sum()
    .mul((actions / (mask.shape[1] ?? 1)) * numbers);
}

/** `shape`: of the entropy's elements, before they were masked and summed. */
export function entropySums(entropy: Tensor, shape: readonly number[], mask: Tensor | undefined): LossSums {
  return { entropy, entropyElements: countValid(shape, mask) };
}

export function valueSums(
  error: ValueLoss,
  values: Tensor,
  returns: Tensor,
  mask: Tensor | undefined,
): LossSums {
  const over = (x: Tensor): Tensor => (mask ? x.double().mul(mask) : x.double()).sum();
  const target = returns.double();
  const errors = target.sub(values.detach());
  return {
    valueElements: countValid([...returns.shape, 1], mask),
    valueOutside: over(error.outside),
    returns: over(target),
    returnsSquared: over(target.square()),
    errors: over(errors),
    errorsSquared: over(errors.square()),
  };
}

/**
 * From the sums of a whole training step, over all ranks, to named metrics. `minibatches`: optimizer steps it
 * had.
 */
export function lossMetrics(sums: readonly number[], minibatches: number): Record<string, number> {
  const sum = (name: SumName): number => sums[sumNames.indexOf(name)] ?? 0;
  const mean = (name: SumName): number => sum(name) / Math.max(sum("elements"), 1);
  const average = (name: SumName): number => sum(name) / Math.max(minibatches, 1);
  const metrics: Record<string, number> = {
    "train/actor/policy_loss": average("policyLoss"),
    "train/actor/policy_loss_abs": average("policyLossAbs"),
    ...(sum("ratios") > 0 && {
      "train/actor/ratio": mean("ratio"),
      "train/actor/ratio_abs": mean("ratioDistance"),
      "train/actor/clipped_ratio": mean("clippedRatio"),
      "train/actor/clip_fraction": mean("outside"),
      "train/actor/dual_cliped_ratio": mean("dualRatio"),
      "train/actor/approx_kl": -mean("logRatio"),
    }),
    ...(sum("entropyElements") > 0 && { "train/entropy_loss": sum("entropy") / sum("entropyElements") }),
    "train/loss": average("totalLoss"),
    "train/actor/reference_kl": average("referenceKl"),
  };
  if (sum("valueElements") > 0) {
    metrics["train/critic/value_loss"] = average("valueLoss");
    metrics["train/critic/value_clip_ratio"] = sum("valueOutside") / sum("valueElements");
    metrics["train/critic/explained_variance"] = explainedVariance(sum);
  }
  return metrics;
}

/**
 * 1 − Var(R − V) / Var(R); NaN when it has no meaning: fewer than two entries, or returns that are all the
 * same.
 */
function explainedVariance(sum: (name: SumName) => number): number {
  const count = sum("valueElements");
  const variance = (total: number, squares: number): number =>
    (squares - (total * total) / count) / (count - 1);
  const ofReturns = variance(sum("returns"), sum("returnsSquared"));
  if (count < 2 || ofReturns <= 0) return Number.NaN;
  return 1 - variance(sum("errors"), sum("errorsSquared")) / ofReturns;
}
