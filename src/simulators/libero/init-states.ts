/** Reads LIBERO's `.pruned_init` files: a NumPy array of initial states saved by PyTorch, one state per row. */
import type { InitStates } from "#engine";
import { type NumpyArray, readTorchLayout } from "#formats";
import { UserError } from "#registry";

export function readPrunedInit(path: string): InitStates {
  const value = readTorchLayout(path) as Partial<NumpyArray> | null;
  const { shape = [], data } = value ?? {};
  const [count = 0, width = 0] = shape;
  if (!(data instanceof Float64Array) || shape.length !== 2 || data.length !== count * width)
    throw new UserError(`${path}: expected a NumPy array of float64 [states, numbers per state]`);
  return { count, width, data };
}
