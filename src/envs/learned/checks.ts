/** What goes into an imagined env and what comes out of its world, checked. */
import { UserError } from "#registry";
import type { Tensor } from "#tensor";

/** `expected`: envs, actions per chunk, numbers in an action. */
export function requireActions(actions: Tensor, expected: readonly [number, number, number]): void {
  if (actions.ndim === 3 && expected.every((length, i) => actions.shape[i] === length)) return;
  throw new UserError(
    `actions of shape [${actions.shape.join(", ")}]; this world takes [${expected.join(", ")}]: envs, ` +
      "actions per chunk (num_action_chunks must equal the world's chunk), action size",
  );
}

/** Row b of the frames is of slot `slots[b]`. */
export function requireFinite(frames: Tensor, slots: readonly number[], world: string): void {
  if (frames.isfinite().all().item()) return;
  const bad = slots.filter((_, b) => !frames.select(0, b).isfinite().all().item());
  throw new UserError(
    `the ${world} world imagined frames that are not numbers (slots ${bad.join(", ")}): ` +
      "its weights are damaged, or the dtype is too narrow for them; try dtype: float32",
  );
}
