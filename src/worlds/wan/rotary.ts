/**
 * Rotary positions over time, height and width, and the sinusoids of time, as Wan computes them: in double precision.
 *
 * Su et al. 2021, https://arxiv.org/abs/2104.09864. The channels of a head are split into three parts, one per
 * axis; pairs are adjacent channels (2j, 2j + 1).
 *
 * Shapes: L tokens (frames, then rows, then columns), P = E / 2 pairs of a head.
 */
import { arange, cat, type Device, stack, type Tensor } from "#tensor";

export interface RotaryTable {
  readonly cos: Tensor; // float64 [L, P]
  readonly sin: Tensor;
  /** Rounded to float32, for the kernel that turns bfloat16 numbers. */
  readonly single: { readonly cos: Tensor; readonly sin: Tensor };
}

/** How many of a head's channels belong to time, height and width. */
export function axisChannels(head: number): readonly [number, number, number] {
  const side = Math.floor(head / 3);
  return [head - 2 * side, side, side];
}

/** Angles of one axis, float64 [length, pairs]. */
export function axisAngles(length: number, channels: number, device: Device): Tensor {
  const place = { dtype: "float64", device } as const;
  const exponents = arange(0, channels, 2, place).div(channels);
  const frequencies = exponents.mul(Math.log(10000)).exp().reciprocal();
  return arange(0, length, 1, place).unsqueeze(1).mul(frequencies);
}

export function rotaryTable(
  grid: readonly [number, number, number],
  head: number,
  device: Device,
): RotaryTable {
  const [frames, rows, columns] = grid;
  const channels = axisChannels(head);
  const spread = (axis: 0 | 1 | 2): Tensor => {
    const angles = axisAngles(grid[axis], channels[axis], device);
    const shape = [1, 1, 1, angles.shape[1]!];
    shape[axis] = grid[axis];
    return angles.view(shape).expand([frames, rows, columns, angles.shape[1]!]);
  };
  const angles = cat([spread(0), spread(1), spread(2)], 3).flatten(0, 2);
  const [cos, sin] = [angles.cos(), angles.sin()];
  return { cos, sin, single: { cos: cos.float(), sin: sin.float() } };
}

/** x: [B, H, L, E]. */
export function rotate(x: Tensor, { cos, sin }: Pick<RotaryTable, "cos" | "sin">): Tensor {
  const [even, odd] = x.double().unflatten(-1, [-1, 2]).unbind(-1);
  const turned = stack([even!.mul(cos).sub(odd!.mul(sin)), even!.mul(sin).add(odd!.mul(cos))], -1);
  return turned.flatten(-2).to({ dtype: x.dtype });
}

/** [N, size]: cosines then sines, in the timestep's dtype. */
export function timeWaves(t_N: Tensor, size: number): Tensor {
  const half = size / 2;
  const steps = arange(0, half, 1, { dtype: "float64", device: t_N.device }).div(half);
  const frequencies = steps.mul(-Math.log(10000)).exp();
  const angles = t_N.double().unsqueeze(1).mul(frequencies);
  return cat([angles.cos(), angles.sin()], 1).to({ dtype: t_N.dtype });
}
