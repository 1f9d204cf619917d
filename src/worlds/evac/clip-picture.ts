/**
 * Prepares a picture for CLIP as EVAC does: through kornia's antialiased bicubic resize.
 *
 * Unlike PIL's or torch's antialiasing, kornia blurs with a small gaussian before shrinking (none before growing)
 * and aligns corners. Pictures come in [-1, 1] and leave normalized with CLIP's statistics.
 *
 * Shapes: B pictures, H W pixels.
 */
import { aten, type Tensor, tensor } from "#tensor";

const side = 224;
const mean = [0.48145466, 0.4578275, 0.40821073];
const std = [0.26862954, 0.26130258, 0.27577711];

export function clipPicture(pictures_B3HW: Tensor): Tensor {
  const { device } = pictures_B3HW;
  const channel = (values: number[]): Tensor => tensor(values, { device }).view([1, 3, 1, 1]);
  const resized = aten.upsample_bicubic2d(blurForShrinking(pictures_B3HW), [side, side], true);
  return resized.add(1).div(2).sub(channel(mean)).div(channel(std));
}

function blurForShrinking(pictures_B3HW: Tensor): Tensor {
  const [height = 0, width = 0] = pictures_B3HW.shape.slice(-2);
  if (Math.max(height, width) <= side) return pictures_B3HW;
  const [down, across] = [gaussian(height / side), gaussian(width / side)];
  const [padY, padX] = [(down.length - 1) / 2, (across.length - 1) / 2];
  const padded = aten.reflection_pad2d(pictures_B3HW, [padX, padX, padY, padY]);
  const kernel = (values: number[], shape: number[]): Tensor =>
    tensor(values, { device: padded.device }).view(shape).expand([3, -1, -1, -1]);
  const rows = aten.conv2d(padded, kernel(across, [1, 1, 1, across.length]), null, [1, 1], [0, 0], [1, 1], 3);
  return aten.conv2d(rows, kernel(down, [1, 1, down.length, 1]), null, [1, 1], [0, 0], [1, 1], 3);
}

/** Weights of the blur for a shrink factor: at least three, an odd number. */
function gaussian(factor: number): number[] {
  const sigma = Math.max((factor - 1) / 2, 0.001);
  const size = Math.trunc(Math.max(4 * sigma, 3));
  const length = size % 2 === 1 ? size : size + 1;
  const weights = Array.from({ length }, (_, i) =>
    Math.exp(-((i - (length - 1) / 2) ** 2) / (2 * sigma ** 2)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
