/** Runs a costly network on a few rows at a time, so that its memory stays bounded whatever the batch. */
import { cat, scope, type Tensor } from "#tensor";

export function inMicroBatches(
  input: Tensor,
  limit: number,
  work: (rows: Tensor, start: number) => Tensor,
): Tensor {
  const rows = input.shape[0]!;
  if (rows <= limit) return scope(() => work(input, 0));
  const parts: Tensor[] = [];
  for (let start = 0; start < rows; start += limit) {
    parts.push(scope(() => work(input.narrow(0, start, Math.min(limit, rows - start)), start)));
  }
  return cat(parts, 0);
}
