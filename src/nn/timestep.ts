/**
 * Sinusoidal embedding of a diffusion time, as in Ho et al. 2020, https://arxiv.org/abs/2006.11239.
 *
 * Families differ in the order of the halves and in the divisor of the exponent; both are settings.
 */
import { arange, cat, type Tensor } from "#tensor";

export interface TimestepOptions {
  readonly maxPeriod?: number;
  /** cos before sin, as in DiT and OpenSora; false puts sin first. */
  readonly cosFirst?: boolean;
  /** Subtracted from the half width in the exponent's divisor. */
  readonly downscaleShift?: number;
}

/** [B] → [B, width], float32. */
export function timestepEmbedding(
  times: Tensor,
  width: number,
  { maxPeriod = 10000, cosFirst = true, downscaleShift = 0 }: TimestepOptions = {},
): Tensor {
  const half = Math.floor(width / 2);
  const exponents = arange(0, half, 1, { device: times.device })
    .mul(-Math.log(maxPeriod))
    .div(half - downscaleShift);
  const angles = times.float().unsqueeze(-1).mul(exponents.exp());
  const [cos, sin] = [angles.cos(), angles.sin()];
  const both = cat(cosFirst ? [cos, sin] : [sin, cos], -1);
  return width % 2 === 0 ? both : cat([both, both.narrow(-1, 0, 1).mul(0)], -1);
}
