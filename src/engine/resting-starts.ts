/**
 * Stored starts of our own tasks: one `.npy` per task, float32 [starts, joint positions].
 *
 * Everything is at rest in them, so time and velocities are zero and not stored. A free joint has seven positions but six
 * velocities, which is all that is needed to restore the full rows `[time, qpos…, qvel…]`.
 */
import { isNumericArray, readNpy } from "#formats";
import { UserError } from "#registry";
import type { InitStates } from "./pack.ts";

/** @param freeObjects how many movable objects the task has. */
export function readRestingStarts(path: string, freeObjects: number): InitStates {
  const stored = readNpy(path);
  const [count = 0, positions = 0] = stored.shape;
  if (!isNumericArray(stored) || stored.dtype !== "float32" || stored.shape.length !== 2)
    throw new UserError(
      `${path}: expected float32 [starts, joint positions], found ${stored.dtype} [${stored.shape}]`,
    );
  const width = 1 + positions + (positions - freeObjects);
  const data = new Float64Array(count * width);
  for (let start = 0; start < count; start++) {
    const row = (stored.data as Float32Array).subarray(start * positions, (start + 1) * positions);
    data.set(row, start * width + 1);
  }
  return { count, width, data };
}
