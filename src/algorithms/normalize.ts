/** Standardizes advantages over the valid entries of the whole batch, on all ranks together. */
import type { Tensor } from "#tensor";
import { noGrad, scope } from "#tensor";
import { alone, type Ranks } from "./ranks.ts";

/**
 * (x − mean) / (std + 1e-5), std with Bessel's correction. Without two valid entries anywhere, x as it is.
 */
export async function normalize(x: Tensor, mask?: Tensor, ranks: Ranks = alone): Promise<Tensor> {
  const [count = 0, total = 0] = await ranks.sum([mask ? sumOf(mask) : x.numel, maskedSum(x, mask)]);
  if (count < 2) return x;
  const mean = total / count;
  const [squares = 0] = await ranks.sum([scope(() => maskedSum(x.double().sub(mean).square(), mask))]);
  const std = Math.sqrt(squares / (count - 1));
  return noGrad(() => scope(() => x.sub(mean).div(std + 1e-5)));
}

function maskedSum(x: Tensor, mask: Tensor | undefined): number {
  return scope(() => sumOf(mask ? x.double().mul(mask) : x));
}

function sumOf(x: Tensor): number {
  return noGrad(() => scope(() => Number(x.double().sum().item())));
}
