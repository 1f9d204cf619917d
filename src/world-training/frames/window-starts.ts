/**
 * Where in an episode the window of a lesson begins.
 *
 * Imagination goes on from the first frame in whole chunks, so a share of the lessons begins where its chunks do. Drawn evenly, the
 * first chunk, whose memory is one frame repeated and on which all others rest, would be one lesson in thirty.
 */
export interface WindowStarts {
  readonly chunk: number; // actions of a window
  readonly aligned: number; // share of windows that begin at a multiple of the chunk
}

/** Actions before the window, in an episode of `length` actions. `random` gives numbers in [0, 1). */
export function drawWindowStart(
  length: number,
  { chunk, aligned }: WindowStarts,
  random: () => number,
): number {
  if (aligned > 0 && random() < aligned) return chunk * Math.floor(random() * Math.floor(length / chunk));
  return Math.floor(random() * (length - chunk + 1));
}
