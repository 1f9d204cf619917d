/**
 * Rotary position embeddings in the two layouts that checkpoints use. Su et al. 2021, https://arxiv.org/abs/2104.09864.
 *
 * "halves": the pairs are (i, i + H/2), as in Llama and Gemma. "interleaved": the pairs are (2i, 2i + 1), as in
 * OpenSora and Wan. Shapes: L positions, H head width (even).
 */
import { arange, aten, cat, type Device, stack, type Tensor } from "#tensor";

export interface RotaryTable {
  readonly cos: Tensor;
  readonly sin: Tensor;
}

/** Angles position · theta^(-2i/H) for the given positions, [..., H/2], in float32. */
export function rotaryAngles(positions: Tensor, width: number, theta = 10000): Tensor {
  const device: Device = positions.device;
  const exponents = arange(0, width, 2, { device }).div(width);
  // 1 / theta^x, in this order: the last bits matter at high positions
  const frequencies = aten.pow(theta, exponents).reciprocal();
  return positions.float().unsqueeze(-1).mul(frequencies);
}

/** cos and sin repeated for the "halves" layout: [..., H]. */
export function rotaryTable(positions: Tensor, width: number, theta = 10000): RotaryTable {
  const angles = rotaryAngles(positions, width, theta);
  const both = cat([angles, angles], -1);
  return { cos: both.cos(), sin: both.sin() };
}

/** Rotates pairs (i, i + H/2). cos and sin must broadcast against x. */
export function rotateHalves(x: Tensor, { cos, sin }: RotaryTable): Tensor {
  const [first, second] = x.chunk(2, -1) as [Tensor, Tensor];
  return x.mul(cos).add(cat([second.neg(), first], -1).mul(sin));
}

/** Rotates pairs (2i, 2i + 1); cos and sin are [..., H/2], one per pair. */
export function rotateInterleaved(x: Tensor, { cos, sin }: RotaryTable): Tensor {
  const pairs = x.unflatten(-1, [-1, 2]);
  const [even, odd] = pairs.unbind(-1) as [Tensor, Tensor];
  return stack([even.mul(cos).sub(odd.mul(sin)), odd.mul(cos).add(even.mul(sin))], -1).flatten(-2);
}
