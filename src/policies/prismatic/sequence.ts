/**
 * Where everything stands in the language model's input, in the two orders that published checkpoints expect.
 *
 *   rlinf     [begin | pictures | pads… prompt ▁ | A zeros]
 *   official  [begin | pictures, state | prompt ▁ | A zeros | end | pads…]
 *
 * The A zeros are placeholders: one forward pass predicts every action token of the chunk at once
 * (parallel decoding, https://arxiv.org/abs/2502.19645). Position t predicts the token at t + 1, so logits are
 * read from the last prompt token on. Places depend only on the prompt's mask, so they are known before any
 * embedding is: training layer by layer relies on that.
 *
 * Shapes: B batch, L prompt columns, P picture (and state) tokens, A action tokens, S all tokens, D width,
 * T tokens that are not seen but written: prompt, placeholders and end.
 */
import { aten, cat, ones, type Tensor, zeros } from "#tensor";

export interface Layout {
  readonly mask_BS: Tensor; // bool; true where a token may be seen
  readonly positions_BS: Tensor; // int64
  /** First position whose logits are read: one number for all rows, or int64 [B]. */
  readonly firstAction: number | Tensor;
  /** Position that the critic reads. */
  readonly valueAt: number;
  /** How written tokens are sorted (`official` only): int64 [B, T]. */
  readonly order_BT?: Tensor;
}

export function rlinfLayout(mask_BL: Tensor, seen: number, actions: number): Layout {
  const parts = [mask_BL.slice(1, 0, 1), trues(mask_BL, seen), mask_BL.slice(1, 1), trues(mask_BL, actions)];
  const mask_BS = cat(parts, 1);
  const firstAction = mask_BS.size(1) - actions - 1;
  return { mask_BS, positions_BS: positionsOf(mask_BS), firstAction, valueAt: firstAction };
}

export function rlinfEmbeddings(words_BLD: Tensor, seen_BPD: Tensor, actions: number): Tensor {
  const parts = [words_BLD.slice(1, 0, 1), seen_BPD, words_BLD.slice(1, 1), placeholders(seen_BPD, actions)];
  return cat(parts, 1);
}

export function officialLayout(mask_BL: Tensor, seen: number, actions: number): Layout {
  const real_BT = cat([mask_BL, trues(mask_BL, actions + 1)], 1);
  const order_BT = realFirst(real_BT);
  const sorted_BT = real_BT.gather(1, order_BT);
  const mask_BS = cat([sorted_BT.slice(1, 0, 1), trues(mask_BL, seen), sorted_BT.slice(1, 1)], 1);
  return {
    mask_BS,
    order_BT,
    positions_BS: positionsOf(mask_BS).maskedFill(mask_BS.logicalNot(), 1),
    firstAction: mask_BL.long().sum(1).sub(1).add(seen),
    // The reference counts from the end of the padded row, so this is a placeholder's or a pad's position; kept,
    // because published critics were trained with it.
    valueAt: mask_BS.size(1) - actions - 1,
  };
}

export function officialEmbeddings(
  words_BLD: Tensor,
  end_B1D: Tensor,
  seen_BPD: Tensor,
  actions: number,
  order_BT: Tensor,
): Tensor {
  const written_BTD = cat([words_BLD, placeholders(seen_BPD, actions), end_B1D], 1);
  const order_BTD = order_BT.unsqueeze(2).expand([-1, -1, seen_BPD.size(2)]);
  const sorted_BTD = written_BTD.gather(1, order_BTD);
  return cat([sorted_BTD.slice(1, 0, 1), seen_BPD, sorted_BTD.slice(1, 1)], 1);
}

const positionsOf = (mask_BS: Tensor): Tensor => mask_BS.long().cumsum(1).sub(1);

const trues = (like: Tensor, columns: number): Tensor =>
  ones([like.size(0), columns], { dtype: "bool", device: like.device });

const placeholders = (like_BPD: Tensor, count: number): Tensor =>
  zeros([like_BPD.size(0), count, like_BPD.size(2)], { dtype: like_BPD.dtype, device: like_BPD.device });

/** A stable order that puts real tokens before pads: int64 [B, T]. */
function realFirst(real_BT: Tensor): Tensor {
  const pads = real_BT.logicalNot().to({ dtype: "int32" });
  return aten.sort(pads, { stable: true, dim: 1, descending: false })[1];
}
