/** A model that holds NaN is named as such when it is loaded, and not later as a training that has diverged. */
import { UserError } from "#registry";
import { findNotFinite, type Tensor } from "#tensor";

export function requireFinite(weights: ReadonlyMap<string, Tensor>, source: string): void {
  const found = findNotFinite(weights);
  if (!found) return;
  throw new UserError(
    `the model in ${source} has ${found.what} in tensor ${found.name}: it was damaged or saved by a training that had diverged; use another`,
  );
}
