/** Checkpoint names to ours and back: shared with OpenVLA, see prismatic/weights.ts. */
export { loadWeights, ourName, readComponent } from "../prismatic/weights.ts";
