/**
 * Finds the times whose sinusoids were recorded without them.
 *
 * The slowest wave gives the time roughly and without ambiguity, each faster one more precisely.
 */
import { type Tensor, tensor } from "#tensor";

/** `waves`: [N, 2·half], cosines then sines at 10000^(-i/half). */
export function timesOf(waves: Tensor): Tensor {
  const [rows = 0, width = 0] = waves.shape;
  const values = waves.toArray().map(Number);
  const half = width / 2;
  const times = Array.from({ length: rows }, (_, row) => {
    let time = 0;
    for (let i = half - 1; i >= 0; i--) {
      const frequency = 10000 ** (-i / half);
      const phase = Math.atan2(values[row * width + half + i]!, values[row * width + i]!);
      const turns = Math.round((time * frequency - phase) / (2 * Math.PI));
      time = (phase + 2 * Math.PI * turns) / frequency;
    }
    return time;
  });
  return tensor(times);
}
