/**
 * Which checkpoints belong to a run: its lineage, a list of branches, the present one last.
 *
 * A run begins as one branch. Who goes back to step 3 begins another there, and what the first did after step 3 is no longer part of the
 * run, however high its numbers are. Every checkpoint carries the lineage that it was made in, and the folder has the present one in
 * `run.json`; a checkpoint belongs to the run if its branch is on that list and was left no earlier than at its step.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";

const branchSchema = z.strictObject({
  /** Null: checkpoints from before there were identities. */
  id: z.string().nullable(),
  /** Training steps done when the branch began. */
  from: z.int().min(0),
});

export const lineageSchema = z.array(branchSchema).min(1);
export type Lineage = z.infer<typeof lineageSchema>;

/** What a checkpoint says of its origin; undefined for one from before there were identities. */
export const runOriginSchema = z.strictObject({
  lineage: lineageSchema,
  /** Steps of the checkpoint (or beginning, 0) that the run had before this one. */
  parent: z.int().min(0),
});
export type RunOrigin = z.infer<typeof runOriginSchema>;

export interface Marked {
  readonly step: number;
  readonly run?: RunOrigin | undefined;
}

export const newLineage = (): Lineage => [{ id: randomUUID(), from: 0 }];

export const branchOf = (lineage: Lineage): string | null => lineage.at(-1)!.id;

/** The lineage that a checkpoint was made in. */
export const lineageOf = ({ run }: Marked): Lineage => run?.lineage ?? [{ id: null, from: 0 }];

/** A new branch that begins at the checkpoint. */
export function branchFrom(checkpoint: Marked): Lineage {
  const kept = lineageOf(checkpoint).filter(({ from }) => from < checkpoint.step || from === 0);
  return [...kept, { id: randomUUID(), from: checkpoint.step }];
}

export function isOn(lineage: Lineage, checkpoint: Marked): boolean {
  const id = branchOf(lineageOf(checkpoint));
  const at = lineage.findIndex((branch) => branch.id === id);
  if (at < 0) return false;
  const next = lineage[at + 1];
  return checkpoint.step >= lineage[at]!.from && (next === undefined || checkpoint.step <= next.from);
}
