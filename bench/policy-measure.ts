/** What the parts of the policies bench share: who is measured, on which clock, and where rows go. */
import { emptyCache, synchronize, type Tensor } from "#tensor";
import type { OpenVlaOftModel } from "../src/policies/openvla-oft/model.ts";
import type { PrismaticConfig } from "../src/policies/prismatic/config.ts";
import type { BenchInputs, Place } from "./openvla-network.ts";
import type { Reference } from "./python.ts";
import { type BenchRow, tableOf } from "./row.ts";

export interface Bench {
  readonly config: PrismaticConfig;
  readonly place: Place;
  readonly reference: Reference;
  readonly tiny: boolean;
  readonly compile: boolean;
  readonly rows: BenchRow[];
}

/** An answer of the reference, or our own figures in the same form. */
export type Timed = { ms: number; peak_gb: number; error?: string };

/** Adds rows and prints them at once: a run that is cut short still leaves its numbers. */
export function report(state: Bench, ...measured: BenchRow[]): void {
  const rows = state.tiny ? measured.map(unjudged) : measured;
  const table = tableOf(rows).split("\n");
  console.error(table.slice(state.rows.length === 0 ? 0 : 2).join("\n"));
  state.rows.push(...rows);
}

/** Times of a tiny network say nothing about the goals. */
const unjudged = (row: BenchRow): BenchRow => (row.ratio === null ? row : { ...row, goal: null, ok: null });

/** Pixels to the logits of a chunk, float32 [B, A, V]. */
export const logitsOf = (module: OpenVlaOftModel, { pixels_BKSS, ids_BL, mask_BL }: BenchInputs): Tensor =>
  module.forward({ features_BPC: module.see(pixels_BKSS), prompt: { ids_BL, mask_BL } }, false).logits_BAV;

export async function ask(state: Bench, request: Record<string, unknown>): Promise<Timed> {
  const answer = await state.reference.ask<Timed>(request);
  if (answer.error) throw new Error(`the reference failed at ${JSON.stringify(request)}: ${answer.error}`);
  return answer;
}

export function milliseconds(body: () => void, count: number): number {
  synchronize();
  const start = performance.now();
  for (let i = 0; i < count; i++) body();
  synchronize();
  return (performance.now() - start) / count;
}

/** Disposes, and gives cached memory back so that the other side has it. */
export function freed({ place }: Bench, tensors: readonly Tensor[]): void {
  for (const tensor of tensors) tensor.dispose();
  if (place.device === "cuda") emptyCache();
}
