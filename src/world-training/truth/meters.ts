/**
 * The measures that truth is told in.
 *
 * PSNR; SSIM (Wang et al. 2004, https://doi.org/10.1109/TIP.2003.819861) with its 11-pixel gaussian window; the area
 * under the ROC curve; expected calibration error in ten bins; proportions with Wilson's 95 % interval.
 *
 * Shapes: T frames, H W pixels in [-1, 1].
 */
import { aten, scope, type Tensor, tensor } from "#tensor";

/** In dB per frame; identical frames count as 60. */
export function psnr(ours_T3HW: Tensor, theirs_T3HW: Tensor): number[] {
  const errors = scope(() => ours_T3HW.sub(theirs_T3HW).square().mean([1, 2, 3]).cpu())
    .toArray()
    .map(Number);
  return errors.map((error) => Math.min(60, 10 * Math.log10(4 / Math.max(error, 1e-12)))); // the range is 2, squared 4
}

const windowSize = 11;
const windowSigma = 1.5;

/** Structural similarity per frame, 1 for identical frames. */
export function ssim(ours_T3HW: Tensor, theirs_T3HW: Tensor): number[] {
  return scope(() => {
    const [a, b] = [ours_T3HW.add(1).div(2), theirs_T3HW.add(1).div(2)];
    const [ma, mb] = [blur(a), blur(b)];
    const va = blur(a.square()).sub(ma.square());
    const vb = blur(b.square()).sub(mb.square());
    const covariance = blur(a.mul(b)).sub(ma.mul(mb));
    const [c1, c2] = [0.01 ** 2, 0.03 ** 2];
    const top = ma.mul(mb).mul(2).add(c1).mul(covariance.mul(2).add(c2));
    const bottom = ma.square().add(mb.square()).add(c1).mul(va.add(vb).add(c2));
    return top.div(bottom).mean([1, 2, 3]).cpu();
  })
    .toArray()
    .map(Number);
}

function blur(x_T3HW: Tensor): Tensor {
  const weights = Array.from({ length: windowSize }, (_, i) =>
    Math.exp(-((i - (windowSize - 1) / 2) ** 2) / (2 * windowSigma ** 2)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const line = tensor(
    weights.map((weight) => weight / total),
    { device: x_T3HW.device },
  );
  const kernel = line.unsqueeze(1).mul(line.unsqueeze(0)).expand([3, 1, windowSize, windowSize]);
  return aten.conv2d(x_T3HW, kernel, null, [1, 1], [0, 0], [1, 1], 3);
}

/** Probability that a success scores above a failure; ties count half. NaN without both kinds. */
export function auc(scores: readonly number[], truth: readonly number[]): number {
  const order = scores.map((_, i) => i).sort((a, b) => scores[a]! - scores[b]!);
  const positives = truth.filter((value) => value === 1).length;
  let rankSum = 0;
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && scores[order[to]!] === scores[order[from]!]) to++;
    const rank = (from + to + 1) / 2; // ranks from 1; ties share their mean
    for (let i = from; i < to; i++) if (truth[order[i]!] === 1) rankSum += rank;
    from = to;
  }
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * (truth.length - positives));
}

/** Mean distance between what is said and the ground truth, over ten bins of what is said. */
export function calibrationError(scores: readonly number[], truth: readonly number[]): number {
  const bins = Array.from({ length: 10 }, () => ({ said: 0, so: 0, count: 0 }));
  for (const [i, score] of scores.entries()) {
    const bin = bins[Math.min(9, Math.floor(score * 10))]!;
    bin.said += score;
    bin.so += truth[i]!;
    bin.count++;
  }
  return bins.reduce((sum, { said, so }) => sum + Math.abs(said - so), 0) / Math.max(scores.length, 1);
}

export interface Proportion {
  readonly count: number;
  readonly of: number;
  readonly share: number;
  /** Wilson's 95 % interval. */
  readonly low: number;
  readonly high: number;
}

export function proportion(count: number, of: number): Proportion {
  if (of === 0) return { count, of, share: Number.NaN, low: 0, high: 1 };
  const z = 1.959964;
  const share = count / of;
  const center = (share + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const half = (z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2))) / (1 + z ** 2 / of);
  return { count, of, share, low: Math.max(0, center - half), high: Math.min(1, center + half) };
}
