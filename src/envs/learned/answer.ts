/**
 * What an imagined env answers: what its slots show, and what their last chunk was worth.
 *
 * Shapes: N slots, C actions in a chunk.
 */
import type { EnvStep, Observation } from "#data";
import { keep, scope, stack, type Tensor, tensor, zeros } from "#tensor";
import { episodeStats, type Slot } from "./slots.ts";

/** World models know no proprioception; policies get this many zeros. */
const blankState = 16;

export function observationOf(slots: readonly Slot[]): Observation {
  return scope(() => ({
    mainImages: keep(stack(slots.map((slot) => slot.picture))),
    states: keep(
      slots[0]?.state
        ? stack(slots.map((slot) => slot.state ?? zeros([blankState]))).cpu()
        : zeros([slots.length, blankState]),
    ),
    taskDescriptions: slots.map((slot) => slot.instruction),
  }));
}

/** Rewards [N, C] of a chunk; an episode ends at the chunk's last action. */
export function outcomeOf(
  slots: readonly Slot[],
  rewards: Float32Array,
  withEnd: boolean,
): Omit<EnvStep, "observation"> {
  const chunk = rewards.length / slots.length;
  const flags = (is: (slot: Slot) => boolean): Tensor => {
    const values = new Uint8Array(rewards.length);
    for (const [i, slot] of slots.entries()) values[(i + 1) * chunk - 1] = Number(is(slot));
    return keep(tensor(values, { shape: [slots.length, chunk], dtype: "bool" }));
  };
  return {
    rewards: keep(tensor(rewards, { shape: [slots.length, chunk] })),
    terminated: flags((slot) => slot.over === "terminated"),
    truncated: flags((slot) => slot.late),
    episode: episodeStats(slots, withEnd),
  };
}
