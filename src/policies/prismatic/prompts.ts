/**
 * The sentence that OpenVLA models are asked, and its place in a rectangle of token ids.
 *
 * Rows are padded on the left; then the begin token moves to column 0, because the picture's tokens are put
 * right after it. Its old place becomes a pad.
 */
import { UserError } from "#registry";
import { cat, type Tensor, tensor } from "#tensor";
import type { PromptTokenizer } from "./tokenizer.ts";

export const promptFor = (task: string): string =>
  `In: What action should the robot take to ${task.toLowerCase()}?\nOut: `;

/** Token ids and which of them are real, both [B, L]. */
export interface PromptBatch {
  readonly ids_BL: Tensor; // int64
  readonly mask_BL: Tensor; // bool
}

/** The ids of a task's prompt: begin token first, "▁" last (appended where the tokenizer did not give it). */
export function promptIds(tokenizer: PromptTokenizer, task: string): readonly number[] {
  const ids = tokenizer.encode(promptFor(task));
  return ids.at(-1) === tokenizer.spaceId ? ids : [...ids, tokenizer.spaceId];
}

/** @param what whose prompt it is. */
function requireRoom(needed: number, length: number, what = "a prompt"): void {
  if (needed <= length) return;
  throw new UserError(
    `${what} has ${needed} tokens and actor.model.max_prompt_length is ${length}; set actor.model.max_prompt_length=${needed} ` +
      `or more (reverie sft, world: --model-set max_prompt_length=${needed})`,
  );
}

/** Refuses tasks whose prompts do not fit into `length` columns; the longest is named. */
export function requirePromptsFit(
  tokenizer: PromptTokenizer,
  tasks: readonly string[],
  length: number,
): void {
  const sized = tasks.map((task) => ({ task, size: promptIds(tokenizer, task).length }));
  const [longest] = sized.sort((a, b) => b.size - a.size);
  if (longest) requireRoom(longest.size, length, `the prompt of "${longest.task}"`);
}

/** Where the begin token goes: to column 0 (`rlinf`), or it stays before the prompt (`official`). */
export type BeginPlacement = "column_0" | "before_prompt";

export function padPrompts(
  rows: readonly (readonly number[])[],
  length: number,
  padId: number,
  begin: BeginPlacement,
): PromptBatch {
  const ids = new BigInt64Array(rows.length * length).fill(BigInt(padId));
  const mask = new Uint8Array(rows.length * length);
  for (const [b, row] of rows.entries()) {
    requireRoom(row.length, length);
    const first = (b + 1) * length - row.length;
    for (const [i, id] of row.entries()) {
      const column = i === 0 && begin === "column_0" ? b * length : first + i;
      ids[column] = BigInt(id);
      mask[column] = 1;
    }
  }
  const shape = [rows.length, length];
  return { ids_BL: tensor(ids, { shape }), mask_BL: tensor(mask, { shape }).bool() };
}

/**
 * Cuts the columns that are padding in every row, and says whether any padding is left.
 *
 * Padding is invisible to attention and does not count in positions, so this changes no result, only work:
 * LIBERO's 128 columns hold prompts of about 30 tokens.
 */
export function trimPadding({ ids_BL, mask_BL }: PromptBatch): { prompt: PromptBatch; padded: boolean } {
  const [B = 0, L = 0] = mask_BL.shape;
  const real = mask_BL.to({ dtype: "uint8" }).cpu().contiguous().data() as Uint8Array;
  let first = L;
  for (let b = 0; b < B; b++) {
    for (let column = 1; column < first; column++) if (real[b * L + column]) first = column;
  }
  const used = real.reduce((sum, one) => sum + one, 0);
  const padded = used < B * (L - first + 1);
  if (first <= 1) return { prompt: { ids_BL, mask_BL }, padded };
  const cut = (x_BL: Tensor): Tensor => cat([x_BL.slice(1, 0, 1), x_BL.slice(1, first)], 1);
  return { prompt: { ids_BL: cut(ids_BL), mask_BL: cut(mask_BL) }, padded };
}
