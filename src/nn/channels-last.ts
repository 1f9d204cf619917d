/**
 * Pictures with their channels last in memory, which is how tensor cores want them.
 *
 * The shape stays [N, C, ...]; only the order in memory changes, so nothing else has to know.
 */
import type { Tensor } from "#tensor";

const spatialAxes = (x: Tensor): number[] => Array.from({ length: x.ndim - 2 }, (_, i) => i + 2);

/** [N, C, ...] seen as [N, ..., C]. */
export const asLast = (x: Tensor): Tensor => x.permute([0, ...spatialAxes(x), 1]);

/** [N, ..., C] seen as [N, C, ...]. */
export const fromLast = (x: Tensor): Tensor =>
  x.permute([0, x.ndim - 1, ...spatialAxes(x).map((axis) => axis - 1)]);

/** The same tensor, [N, C, ...], with its channels contiguous. */
export const channelsLast = (x: Tensor): Tensor => fromLast(asLast(x).contiguous());
