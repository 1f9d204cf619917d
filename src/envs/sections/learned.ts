/** What the sections of all imagined environments share. */
import { z } from "zod";
import { pictureSide } from "#simulators";

export { learnedKeys } from "../learned/settings.ts";

/** For worlds whose captured steps can be replayed. */
export const cudaGraph = z
  .boolean()
  .default(true)
  .describe("replay captured sampling of small batches on a GPU");

export const picture = z.tuple([pictureSide, pictureSide]);

type Settings = Readonly<Record<string, unknown>>;

/** A world imagines as many frames at once as the policy has actions in a chunk. */
export function chunkFindings(
  path: string,
  chunk: unknown,
  run: Settings,
): { path: string; message: string }[] {
  const actor = run.actor as { model?: { num_action_chunks?: number } } | undefined;
  const actions = actor?.model?.num_action_chunks;
  if (chunk === undefined || actions === undefined || chunk === actions) return [];
  return [
    {
      path,
      message: `is ${chunk}, but actor.model.num_action_chunks is ${actions}: the world and the policy must agree`,
    },
  ];
}
