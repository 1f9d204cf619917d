/**
 * Llama's rotation of queries and keys by their positions (https://arxiv.org/abs/2104.09864), one table for all layers.
 *
 * The frequencies are 1 / θ^(2i/E) by a float32 power and angles are float32, whatever the model's precision: the
 * order of roundings that transformers uses.
 *
 * Shapes: B batch, L tokens, E head width.
 */
import type { RotaryTable } from "#nn";
import { arange, aten, cat, type DType, type Tensor } from "#tensor";

/** Cosines and sines of every token's angles, [B, 1, L, E] each. */
export function rotationFor(
  positions_BL: Tensor,
  headWidth: number,
  theta: number,
  dtype: DType,
): RotaryTable {
  const exponents = arange(0, headWidth, 2, { device: positions_BL.device }).div(headWidth);
  const frequencies = aten.pow({ float: theta }, exponents).reciprocal();
  const angles_BLF = positions_BL.float().unsqueeze(2).mul(frequencies);
  const angles_B1LE = cat([angles_BLF, angles_BLF], 2).unsqueeze(1);
  return { cos: angles_B1LE.cos().to({ dtype }), sin: angles_B1LE.sin().to({ dtype }) };
}

/** The table of some positions only, as tensors of their own. */
export const rotationSpan = (
  { cos, sin }: RotaryTable,
  { start, length }: { readonly start: number; readonly length: number },
): RotaryTable => ({
  cos: cos.narrow(2, start, length).contiguous(),
  sin: sin.narrow(2, start, length).contiguous(),
});
