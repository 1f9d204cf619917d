/**
 * Llama's rotation of queries and keys by their positions (https://arxiv.org/abs/2104.09864), one table for all layers.
 *
 * The frequencies are 1 / θ^(2i/E) by a float32 power and angles are float32, whatever the model's precision: the
 * order of roundings that transformers uses. Turning is three kernels: the halves swapped by a roll, and the sign that
 * belongs to the swapped half kept in the table.
 *
 * Shapes: B batch, H heads, L tokens, E head width.
 */
import { arange, aten, cat, type DType, op, type Tensor } from "#tensor";

const addcmul = op("aten::addcmul");

/** Of every token's angles: cosines, and sines that are negative in the first half. [B, 1, L, E] each. */
export interface Rotation {
  readonly cos: Tensor;
  readonly signedSin: Tensor;
}

export function rotationFor(positions_BL: Tensor, headWidth: number, theta: number, dtype: DType): Rotation {
  const exponents = arange(0, headWidth, 2, { device: positions_BL.device }).div(headWidth);
  const frequencies = aten.pow({ float: theta }, exponents).reciprocal();
  const angles_B1LF = positions_BL.float().unsqueeze(2).mul(frequencies).unsqueeze(1);
  const [cos, sin] = [angles_B1LF.cos(), angles_B1LF.sin()];
  return { cos: cat([cos, cos], 3).to({ dtype }), signedSin: cat([sin.neg(), sin], 3).to({ dtype }) };
}

export function rotate(x_BHLE: Tensor, { cos, signedSin }: Rotation): Tensor {
  const swapped_BHLE = x_BHLE.roll([x_BHLE.size(3) / 2], [3]);
  return addcmul(x_BHLE.mul(cos), swapped_BHLE, signedSin);
}

/** The table of some positions only. */
export const rotationSpan = (
  { cos, signedSin }: Rotation,
  { start, length }: { readonly start: number; readonly length: number },
): Rotation => ({ cos: cos.narrow(2, start, length), signedSin: signedSin.narrow(2, start, length) });
