/** Tokens of an action to the environment's numbers and back: shared with OpenVLA-OFT, see prismatic/actions.ts. */
export { ActionCodec, type ActionCodecOptions } from "../prismatic/actions.ts";
