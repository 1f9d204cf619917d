/**
 * What the policy is told and shown: the task's sentence as Gemma tokens, and the cameras' pictures.
 *
 * Unlike OpenVLA's, a prompt is the bare sentence with a line break behind it; π0.5 may also spell out the state.
 * Padding is on the right. Pictures keep their shape: they are resized as Pillow does it (bilinear) and
 * centerd on black.
 *
 * Shapes: B batch, N cameras, L prompt columns, Q numbers of state, S side of the network's picture.
 */
import type { Observation } from "#data";
import { UserError } from "#registry";
import { aten, type Device, stack, type Tensor, tensor } from "#tensor";
import { pillowResizeAll } from "../prismatic/pillow-tensors.ts";
import type { PromptTokenizer } from "../prismatic/tokenizer.ts";

/** One line, words apart. */
export const cleanTask = (task: string): string => task.trim().replaceAll("_", " ").replaceAll("\n", " ");

/** Where a normalized number lies among 256 bins over [−1, 1], as numpy.digitize counts: −1 is below all. */
export const stateBin = (value: number): number => Math.min(255, Math.max(-1, Math.floor((value + 1) * 128)));

export const statePrompt = (task: string, state: ArrayLike<number>): string =>
  `Task: ${cleanTask(task)}, State: ${Array.from(state, stateBin).join(" ")};\nAction: `;

/** Ids of each row's prompt. `states` are normalized, Q numbers a row; given only when they are part of the prompt. */
export function promptRows(
  tokenizer: PromptTokenizer,
  tasks: readonly string[],
  states?: Float64Array,
): number[][] {
  const Q = (states?.length ?? 0) / tasks.length;
  return tasks.map((task, b) => {
    if (states) return [...tokenizer.encode(statePrompt(task, states.subarray(b * Q, (b + 1) * Q)))];
    const lineBreak = tokenizer.encode("\n").slice(1); // encoded apart, and without a second begin token
    return [...tokenizer.encode(cleanTask(task)), ...lineBreak];
  });
}

export interface PromptBatch {
  readonly ids_BL: Tensor; // int64
  readonly mask_BL: Tensor; // bool
}

/** @param what whose prompt it is. */
function requireRoom(needed: number, length: number, what = "a prompt"): void {
  if (needed <= length) return;
  throw new UserError(
    `${what} has ${needed} tokens and the model reads ${length} (actor.model.openpi.max_token_len); shorten the task's sentence`,
  );
}

/** Refuses tasks whose prompts do not fit into `length` columns. Of a prompt that spells out the state, this knows the words only. */
export function requirePromptsFit(
  tokenizer: PromptTokenizer,
  tasks: readonly string[],
  { length, spelled }: { readonly length: number; readonly spelled: boolean },
): void {
  const rows = spelled
    ? tasks.map((task) => tokenizer.encode(statePrompt(task, [])))
    : promptRows(tokenizer, tasks);
  for (const [i, row] of rows.entries()) requireRoom(row.length, length, `the prompt of "${tasks[i]}"`);
}

/** Padded with 0 on the right to `length` columns. */
export function padRight(rows: readonly (readonly number[])[], length: number): PromptBatch {
  const ids = new BigInt64Array(rows.length * length);
  const mask = new Uint8Array(rows.length * length);
  for (const [b, row] of rows.entries()) {
    requireRoom(row.length, length);
    for (const [i, id] of row.entries()) {
      ids[b * length + i] = BigInt(id);
      mask[b * length + i] = 1;
    }
  }
  const shape = [rows.length, length];
  return { ids_BL: tensor(ids, { shape }), mask_BL: tensor(mask, { shape }).bool() };
}

/** Without the columns that are padding in every row, and whether padding is left. Nobody looks at padding. */
export function trimRight({ ids_BL, mask_BL }: PromptBatch): PromptBatch & { readonly padded: boolean } {
  const lengths = mask_BL.long().sum(1).toArray().map(Number);
  const longest = Math.max(1, ...lengths);
  return {
    ids_BL: ids_BL.narrow(1, 0, longest),
    mask_BL: mask_BL.narrow(1, 0, longest),
    padded: lengths.some((length) => length < longest),
  };
}

/** The first `cameras` pictures, main then wrists then extras, resized on `device`: uint8 [B, N, 3, S, S] on the host. */
export function takePictures(
  { mainImages, wristImages, extraImages }: Observation,
  cameras: number,
  side: number,
  device: Device,
): Tensor {
  const views = [mainImages.unsqueeze(1), wristImages, extraImages].filter((view) => view !== undefined);
  const pictures = views.flatMap((view_BKHWC) => view_BKHWC.unbind(1)).slice(0, cameras);
  if (pictures.length < cameras) {
    throw new UserError(
      `the policy reads ${cameras} pictures (openpi.num_images_in_input) and the environment shows ${pictures.length}; ` +
        "lower num_images_in_input or give the environment a wrist camera",
    );
  }
  const resized = pictures.map((image_BHWC) => resizeWithPad(image_BHWC.to({ device }), side));
  return stack(resized, 1).permute([0, 1, 4, 2, 3]).contiguous().cpu();
}

/** uint8 [X, H, W, 3] to uint8 [X, S, S, 3]: as large as fits, in the middle of black. */
export function resizeWithPad(images_XHWC: Tensor, side: number): Tensor {
  const [, height = 0, width = 0] = images_XHWC.shape;
  if (height === side && width === side) return images_XHWC;
  const ratio = Math.max(width, height) / side;
  const [inHeight, inWidth] = [Math.trunc(height / ratio), Math.trunc(width / ratio)];
  const [top, left] = [Math.trunc((side - inHeight) / 2), Math.trunc((side - inWidth) / 2)];
  const small = pillowResizeAll(images_XHWC, [inHeight, inWidth], "bilinear");
  // the last axis comes first: colors, columns, rows
  return aten.constant_pad_nd(small, [0, 0, left, side - inWidth - left, top, side - inHeight - top], 0);
}

/** Bytes to [−1, 1], float32, on the bytes' device. */
export const toPixels = (images: Tensor): Tensor => images.float().div(255).mul(2).sub(1);
