/**
 * Positions of the STDiT3 denoiser: rotary angles for time, fixed sines and cosines for space.
 *
 * Both are computed in the model's dtype, because the reference keeps the frequencies as weights: in bf16
 * the angles carry bf16's rounding, and the published weights were trained with it.
 *
 * Shapes: L tokens, E head width, S patches, D model width; pairs are adjacent channels (2j, 2j + 1).
 */
import type { RotaryTable } from "#nn";
import { arange, cat, type Device, type DType, type Tensor } from "#tensor";

/** cos and sin of position · frequency, one per pair of channels, [L, E/2]. */
export function temporalRotary(frequencies: Tensor, length: number): RotaryTable {
  const { dtype, device } = frequencies;
  const angles = arange(0, length, 1, { dtype, device }).unsqueeze(1).mul(frequencies);
  return { cos: angles.cos(), sin: angles.sin() };
}

/**
 * [1, S, D] for a grid of rows × columns patches. The column's half comes first. `scale` is the picture's
 * side against the one the model was trained at: positions are stretched so that both cover the same range.
 */
export function spatialPositions(
  grid: { rows: number; columns: number; scale: number; width: number },
  place: { device: Device; dtype: DType },
): Tensor {
  const { rows, columns, scale, width } = grid;
  const base = Math.round(Math.sqrt(rows * columns));
  const frequencies = arange(0, width / 2, 2, { dtype: "float32", device: place.device })
    .mul(-Math.log(10000) / (width / 2))
    .exp();
  const axis = (size: number): Tensor =>
    arange(0, size, 1, { dtype: "float32", device: place.device })
      .div(scale)
      .mul(base / size);
  const waves = (positions: Tensor): Tensor => {
    const angles = positions.unsqueeze(1).mul(frequencies);
    return cat([angles.sin(), angles.cos()], 1);
  };
  const column = waves(axis(columns))
    .unsqueeze(0)
    .expand([rows, columns, width / 2]);
  const row = waves(axis(rows))
    .unsqueeze(1)
    .expand([rows, columns, width / 2]);
  return cat([column, row], 2)
    .reshape([1, rows * columns, width])
    .to({ dtype: place.dtype });
}
