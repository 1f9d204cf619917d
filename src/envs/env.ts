/**
 * What every environment offers: a row of slots that play episodes side by side.
 *
 * A simulator and a world model answer alike, so the loop around them does not know which it has. Shapes: B slots,
 * C actions in a chunk, A numbers in an action.
 */
import type { EnvStep, Observation } from "#data";
import type { Tensor } from "#tensor";

export interface ResetRequest {
  /** Only these slots; all if absent. */
  readonly slots?: readonly number[];
  /** Which starts, one per slot; scheduled ones if absent. */
  readonly ids?: readonly number[];
}

export interface VectorEnv {
  readonly size: number; // B
  readonly actionSize: number; // A
  /** The starts of the next scheduled reset, one per slot, groups together. */
  readonly resetIds: readonly number[];
  /** Draws the starts of the scheduled reset after that; the loop calls it once per pass over the slots. */
  updateResetIds(): void;
  /** Gives the observation of all slots, also when only some are reset. */
  reset(request?: ResetRequest): Promise<Observation>;
  /** Plays a chunk of actions, float [B, C, A]. */
  step(actions: Tensor): Promise<EnvStep>;
  close(): Promise<void>;
}
