/**
 * Turns the recorded rectangle of chunks into one line of time per trajectory, and back.
 *
 * Shapes: T decisions, B columns, C actions per chunk, A rewards per decision (C, or 1 at chunk level), n =
 * T·A.
 */
import type { Rollout } from "#data";
import type { Tensor } from "#tensor";

export type RewardLevel = "action_level" | "chunk_level";

export interface Timeline {
  readonly rewards: Tensor; // float32 [n, B]
  readonly dones: Tensor; // bool [n+1, B]; entry t+1 is the flag after action t, entry 0 is false
  readonly values?: Tensor | undefined; // float32 [n+1, B]
}

/** `mask`: bool [T, B, C], the actions of running episodes; what a chunk earned after its episode's end is not its reward. */
export function timeline(rollout: Rollout, level: RewardLevel, mask?: Tensor): Timeline {
  const { dones, values } = rollout;
  const rewards = mask ? rollout.rewards.mul(mask) : rollout.rewards;
  const summed = level === "chunk_level" ? rewards.sum(2, true) : rewards;
  const flags = level === "chunk_level" ? dones.anyAlong(2, true) : dones;
  const line = flatten(summed);
  const [steps = 0] = line.shape;
  if (values && values.shape[2] !== summed.shape[2]) {
    throw new Error(`internal: ${values.shape[2]} values but ${summed.shape[2]} rewards per decision`);
  }
  return {
    rewards: line,
    dones: lastRows(flatten(flags), steps + 1),
    ...(values && { values: flatten(values).narrow(0, 0, steps + 1) }),
  };
}

/** [T, B, A] → [T·A, B]. */
export function flatten(tensor: Tensor): Tensor {
  const [rows = 0, columns = 0, width = 0] = tensor.shape;
  return tensor.permute([0, 2, 1]).reshape([rows * width, columns]);
}

/** [T·A, B] → [T, B, A]. */
export function unflatten(line: Tensor, width: number): Tensor {
  const [steps = 0, columns = 0] = line.shape;
  return line.reshape([steps / width, width, columns]).permute([0, 2, 1]);
}

export function lastRows(tensor: Tensor, rows: number): Tensor {
  const [all = 0] = tensor.shape;
  return tensor.narrow(0, all - rows, rows);
}
