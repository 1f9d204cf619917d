/**
 * Who holds which environment slots: the arithmetic behind batches that several workers share.
 *
 * Slots are numbered over the whole run. A pipeline stage is a contiguous block of them; within a stage, env worker
 * e and rollout worker r hold contiguous blocks, and each overlap of the two is one message. An actor rank learns
 * from a contiguous block of columns (column = epoch · slots + slot), so that groups stay whole.
 */

/** `length` slots (or columns) from `start` on. */
export interface Block {
  readonly start: number;
  readonly length: number;
}

/** Part `index` of `count` equal parts of a block. */
export function part({ start, length }: Block, index: number, count: number): Block {
  if (length % count !== 0) throw new Error(`internal: ${length} cannot be shared evenly by ${count}`);
  const each = length / count;
  return { start: start + index * each, length: each };
}

/** The slots of one pipeline stage. */
export function stageSlots(slots: number, stage: number, stages: number): Block {
  return part({ start: 0, length: slots }, stage, stages);
}

/** One message between env worker `env` and rollout worker `rollout`: which of the stage's slots it carries. */
export interface Route extends Block {
  readonly env: number;
  readonly rollout: number;
}

/** All messages of one stage, in slot order; a receiver joins what it gets in this order. */
export function routes(stage: Block, envs: number, rollouts: number): Route[] {
  const list: Route[] = [];
  for (let env = 0; env < envs; env++) {
    const from = part(stage, env, envs);
    for (let rollout = 0; rollout < rollouts; rollout++) {
      const to = part(stage, rollout, rollouts);
      const start = Math.max(from.start, to.start);
      const end = Math.min(from.start + from.length, to.start + to.length);
      if (end > start) list.push({ env, rollout, start, length: end - start });
    }
  }
  return list;
}

/** The columns that an actor rank learns from. */
export function actorColumns(columns: number, rank: number, ranks: number): Block {
  return part({ start: 0, length: columns }, rank, ranks);
}
