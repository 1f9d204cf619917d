/** Keys that the env blocks of several families share. */
import { z } from "zod";

/** Width or height in pixels; beyond this no machine answers in time. */
const side = z.int().positive().max(4096);

/** Height and width of the pictures. */
export const pictureSize = z.tuple([side, side]);

/** For worlds whose captured steps can be replayed. */
export const cudaGraph = z
  .boolean()
  .default(true)
  .describe("replay captured sampling of small batches on a GPU");

/** Frames imagined at a time. */
export const chunkKey = z
  .int()
  .positive()
  .default(8)
  .describe("frames imagined at a time; must be actor.model.num_action_chunks");

/** The network that judges success, where a block that is opened names it. */
export const namedRewardModel = z.looseObject({
  type: z.string(),
  from_pretrained: z.string(),
  instructions: z.array(z.string()).optional(),
});
export type NamedRewardModel = z.infer<typeof namedRewardModel>;
