/** Tokens of a chunk to the environment's actions and back: shared with OpenVLA, see prismatic/actions.ts. */
export { ActionCodec, type ActionCodecOptions } from "../prismatic/actions.ts";
