/**
 * Where everything stands in the language model's input, in the two orders that published checkpoints expect.
 *
 *   rlinf     [begin | pictures | pads… prompt ▁ | A zeros]
 *   official  [begin | pictures, state | prompt ▁ | A zeros | end | pads…]
 *
 * The A zeros are placeholders: one forward pass predicts every action token of the chunk at once
 * (parallel decoding, https://arxiv.org/abs/2502.19645). Position t predicts the token at t + 1, so logits are
 * read from the last prompt token on.
 *
 * Shapes: B batch, L prompt columns, P picture (and state) tokens, A action tokens, S all tokens, D width.
 */
import { aten, cat, full, ones, type Tensor, zeros } from "#tensor";
import type { PromptBatch } from "./prompts.ts";

export interface Sequence {
  readonly embeddings_BSD: Tensor;
  readonly mask_BS: Tensor; // bool; true where a token may be seen
  readonly positions_BS: Tensor; // int64
  /** First position whose logits are read: one number for all rows, or int64 [B]. */
  readonly firstAction: number | Tensor;
  /** Position that the critic reads, counted from the front. */
  readonly valueAt: number;
}

type Embed = (ids: Tensor) => Tensor;

const positionsOf = (mask_BS: Tensor): Tensor => mask_BS.long().cumsum(1).sub(1);

const trues = (like: Tensor, columns: number): Tensor =>
  ones([like.shape[0]!, columns], { dtype: "bool", device: like.device });

export function rlinfSequence(
  prompt: PromptBatch,
  seen_BPD: Tensor,
  actions: number,
  embed: Embed,
): Sequence {
  const { ids_BL, mask_BL } = prompt;
  const [B = 0, P = 0, D = 0] = seen_BPD.shape;
  const words_BLD = embed(ids_BL);
  const placeholders = zeros([B, actions, D], { dtype: seen_BPD.dtype, device: seen_BPD.device });
  const embeddings_BSD = cat([words_BLD.slice(1, 0, 1), seen_BPD, words_BLD.slice(1, 1), placeholders], 1);
  const mask_BS = cat(
    [mask_BL.slice(1, 0, 1), trues(mask_BL, P), mask_BL.slice(1, 1), trues(mask_BL, actions)],
    1,
  );
  const firstAction = embeddings_BSD.shape[1]! - actions - 1;
  return { embeddings_BSD, mask_BS, positions_BS: positionsOf(mask_BS), firstAction, valueAt: firstAction };
}

export function officialSequence(
  prompt: PromptBatch,
  seen_BPD: Tensor,
  actions: number,
  embed: Embed,
  endId: number,
): Sequence {
  const { ids_BL, mask_BL } = prompt;
  const [B = 0, P = 0, D = 0] = seen_BPD.shape;
  const placeholders = zeros([B, actions, D], { dtype: seen_BPD.dtype, device: seen_BPD.device });
  const end_B1 = full([B, 1], endId, { dtype: "int64", device: ids_BL.device });
  const words_BTD = cat([embed(ids_BL), placeholders, embed(end_B1)], 1);
  const real_BT = cat([mask_BL, trues(mask_BL, actions + 1)], 1);
  const order_BT = realFirst(real_BT);
  const sorted_BTD = words_BTD.gather(1, order_BT.unsqueeze(2).expand([-1, -1, D]));
  const sorted_BT = real_BT.gather(1, order_BT);
  const embeddings_BSD = cat([sorted_BTD.slice(1, 0, 1), seen_BPD, sorted_BTD.slice(1, 1)], 1);
  const mask_BS = cat([sorted_BT.slice(1, 0, 1), trues(mask_BL, P), sorted_BT.slice(1, 1)], 1);
  return {
    embeddings_BSD,
    mask_BS,
    positions_BS: positionsOf(mask_BS).maskedFill(mask_BS.logicalNot(), 1),
    firstAction: mask_BL.long().sum(1).sub(1).add(P),
    // The reference counts from the end of the padded row, so this is a placeholder's or a pad's position; kept,
    // because published critics were trained with it.
    valueAt: embeddings_BSD.shape[1]! - actions - 1,
  };
}

/** A stable order that puts real tokens before pads: int64 [B, T]. */
function realFirst(real_BT: Tensor): Tensor {
  const pads = real_BT.logicalNot().to({ dtype: "int32" });
  return aten.sort(pads, { stable: true, dim: 1, descending: false })[1];
}
