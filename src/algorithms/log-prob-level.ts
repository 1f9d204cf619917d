/** Log-probabilities and entropies per token, per action or per chunk: sums over what belongs together. */
import type { Tensor } from "#tensor";
import type { Level } from "./settings.ts";

/** [M, C, D] → [M, C, D], [M, C, 1] or [M, 1, 1]. Always three dimensions, so that losses need not ask. */
export function atLevel(x: Tensor, level: Level): Tensor {
  if (level === "token_level") return x;
  return level === "action_level" ? x.sum(2, true) : x.sum([1, 2], true);
}

export function shapeAtLevel(
  [size = 0, actions = 0, numbers = 0]: readonly number[],
  level: Level,
): number[] {
  if (level === "token_level") return [size, actions, numbers];
  return level === "action_level" ? [size, actions, 1] : [size, 1, 1];
}
