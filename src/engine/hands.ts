/** How many numbers a pack's robot takes: seven of an action for each hand. */
import type { AssetPack } from "./pack.ts";

/** Of one hand: translation, rotation, gripper. */
export const handActionSize = 7;

/** All robots of a pack have the same number of hands. */
export const handsOf = ({ robots }: AssetPack): number =>
  Object.values(robots).some(({ kind }) => kind === "two arms") ? 2 : 1;

export const actionSizeOf = (pack: AssetPack): number => handsOf(pack) * handActionSize;

/** No motion; every gripper told -1 to open, 0 to stay. */
export function restAction(pack: AssetPack, gripper: -1 | 0): Float64Array {
  const action = new Float64Array(actionSizeOf(pack));
  for (let last = handActionSize - 1; last < action.length; last += handActionSize) action[last] = gripper;
  return action;
}
