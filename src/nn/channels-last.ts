/**
 * Pictures and convolutions with their channels last in memory, which is how tensor cores want them.
 *
 * The shape stays [N, C, H, W]; only the order in memory changes, so nothing else has to know.
 */
import { noGrad, type Tensor } from "#tensor";
import { Conv2d, Conv3d } from "./conv.ts";
import type { Module } from "./module.ts";

/** The same tensor, [N, C, ...], with its channels contiguous. */
export function channelsLast(x: Tensor): Tensor {
  const spatial = Array.from({ length: x.ndim - 2 }, (_, i) => i + 2);
  return x
    .permute([0, ...spatial, 1])
    .contiguous()
    .permute([0, x.ndim - 1, ...spatial.map((axis) => axis - 1)]);
}

/** Lays out the weights of every convolution over pictures or videos, so that no call has to. */
export function convolutionsLast(module: Module): void {
  noGrad(() => {
    for (const [, part] of module.modules()) {
      if (!(part instanceof Conv2d || part instanceof Conv3d)) continue;
      const old = part.weight;
      part.weight = channelsLast(old).requiresGrad_(old.requiresGrad);
    }
  });
}
