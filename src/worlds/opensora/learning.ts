/**
 * The blocks of the STDiT3 denoiser while it learns: the numbers of `STDiT3Block.forward`, in fewer and larger steps.
 *
 * Between two matrix products stands one junction: the branch joins the residual stream, and what comes next is shown its norm. So the
 * end of a block and the beginning of the next are one step, whose gradients are one step too where a kernel fits (`fusedJunction`).
 * Attention reads heads where the linear layer left them (`SelfAttention.lookShort`).
 *
 * Shapes: B videos, T frames, S patches per frame, D model width, G = B·T groups of S rows.
 */
import { fusedJunction, type Junction, type RecordedTable } from "#kernels";
import { scope, type Tensor } from "#tensor";
import { epsilon, plainNorm } from "../modulation.ts";
import type { Looking } from "./attention.ts";
import type { STDiT3Block } from "./blocks.ts";

/** A block, what it is told, [B, T, 6, D] without its own table, and how it looks around. */
export interface Lecture {
  readonly block: STDiT3Block;
  readonly told_BT6D: Tensor;
  readonly look: Looking;
}

interface Stream {
  readonly sum: Tensor; // [B, T, S, D]
  readonly normed: Tensor;
}

/** From embedded patches to what the last layer is shown: their norm, scaled and shifted by `last_BT6D`'s first two rows. */
export function throughBlocks(x_BTSD: Tensor, lectures: readonly Lecture[], last_BT6D: Tensor): Tensor {
  const tables = [
    ...lectures.map(({ block, told_BT6D }) => recorded(told_BT6D.add(block.scale_shift_table))),
    recorded(last_BT6D),
  ];
  let stream = pass(x_BTSD, { norm: { by: tables[0]!, shift: 0 }, eps: epsilon });
  for (const [i, { block, look }] of lectures.entries()) {
    const [own, next] = [tables[i]!, tables[i + 1]!];
    const before = stream;
    stream = scope(() => {
      const branch = look(block.attn, before.normed);
      const join = { branch, by: own, gate: 2 };
      const { sum, normed } = pass(before.sum, { norm: { by: own, shift: 3 }, join, eps: epsilon });
      const thought = { branch: block.mlp.forward(normed), by: own, gate: 5 };
      return pass(sum, { norm: { by: next, shift: 0 }, join: thought, eps: epsilon });
    });
  }
  return stream.normed;
}

/** Its rows apart: each takes its own gradient, and they are put together once. */
function recorded(table_BT6D: Tensor): RecordedTable {
  const table_G6D = table_BT6D.flatten(0, 1);
  return { table_G6D, rows: table_G6D.unbind(1) };
}

const pass = (x_BTSD: Tensor, junction: Junction): Stream =>
  fusedJunction(x_BTSD, junction) ?? plainJunction(x_BTSD, junction);

function plainJunction(x_BTSD: Tensor, { norm, join }: Junction): Stream {
  const [videos = 0, frames = 0, , width = 0] = x_BTSD.shape;
  const row = ({ rows }: RecordedTable, at: number): Tensor => rows[at]!.view([videos, frames, 1, width]);
  const sum = join ? x_BTSD.add(row(join.by, join.gate).mul(join.branch.view([...x_BTSD.shape]))) : x_BTSD;
  const normed = plainNorm(sum)
    .mul(row(norm.by, norm.shift + 1).add(1))
    .add(row(norm.by, norm.shift));
  return { sum, normed };
}
