/** The random streams of a learned env by name, for checkpoints: which starts come next, and each slot's noise. */
import { UserError } from "#registry";
import type { Tensor } from "#tensor";
import { type NoiseSource, SlotNoise } from "#worlds";
import type { ResetIds } from "./reset-ids.ts";

const noiseName = (slot: number): string => `noise.${slot}`;

export function savedStreams(resetIds: ResetIds, noise: NoiseSource): Map<string, Tensor> {
  const states = noise instanceof SlotNoise ? noise.getState() : [];
  return new Map([...resetIds.getState(), ...states.map((state, slot) => [noiseName(slot), state] as const)]);
}

/** `size`: slots of the env, which must be those that were saved. */
export function restoreStreams(
  states: ReadonlyMap<string, Tensor>,
  resetIds: ResetIds,
  noise: NoiseSource,
  size: number,
): void {
  resetIds.setState(states);
  if (noise instanceof SlotNoise) noise.setState(slotStates(states, size));
}

function slotStates(states: ReadonlyMap<string, Tensor>, size: number): Tensor[] {
  return Array.from({ length: size }, (_, slot) => {
    const state = states.get(noiseName(slot));
    if (state) return state;
    throw new UserError(
      `the saved random streams lack ${noiseName(slot)}: they are of an env with another number of slots`,
    );
  });
}
