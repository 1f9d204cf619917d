/**
 * Which recorded actions belong to an episode that was still running.
 *
 * The action that ends the episode counts; everything recorded in its column afterwards does not. Only for
 * columns that hold one episode each: with auto-reset a column goes on with the next episode and every action
 * counts.
 */
import type { Tensor } from "#tensor";
import { flatten, lastRows, type RewardLevel, unflatten } from "./timeline.ts";

export interface EpisodeMask {
  readonly mask: Tensor; // bool [T, B, C]
  readonly actions: Tensor; // float32 [B], valid actions of each column
}

export function episodeMask(dones: Tensor): EpisodeMask {
  const [rows = 0, , chunk = 0] = dones.shape;
  const steps = (rows - 1) * chunk;
  const before = lastRows(flatten(dones), steps + 1).narrow(0, 0, steps); // [T·C, B]: done before action t
  const running = before.long().cumsum(0).eq(0);
  return { mask: unflatten(running, chunk), actions: running.float().sum(0) };
}

/** bool [T, B, C] → [T, B, A]. A chunk counts when any of its actions does. */
export function atRewardLevel(mask: Tensor | undefined, level: RewardLevel): Tensor | undefined {
  return level === "chunk_level" ? mask?.anyAlong(2, true) : mask;
}
