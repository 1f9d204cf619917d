/**
 * Which pixels an autoencoder must get right: those that stand out from their surroundings.
 *
 * Fingers, edges and the line that shows where a hand points are a few pixels wide and hardly count in an average over the picture, but
 * they are what a policy steers by. After 1,200 steps of plain errors a small autoencoder still left the line out.
 */
import { aten, type Tensor } from "#tensor";

const reach = 2; // pixels around that count as surroundings

/** 1 on even ground, up to 1 + 2·weight where a pixel differs from the mean of its surroundings; [N, 1, H, W]. */
export function detailWeights(pictures_NCHW: Tensor, weight: number): Tensor {
  const width = 2 * reach + 1;
  const around = aten.avg_pool2d(pictures_NCHW, [width, width], [1, 1], [reach, reach], false, false);
  return pictures_NCHW.sub(around).abs().mean([1], true).mul(weight).add(1);
}

/** Absolute and squared error, averaged with these weights. */
export const weightedError = (error_NCHW: Tensor, weights_N1HW: Tensor, squared: number): Tensor =>
  error_NCHW.abs().add(error_NCHW.square().mul(squared)).mul(weights_N1HW).mean();
