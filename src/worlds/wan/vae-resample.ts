/**
 * How Wan's autoencoder changes size: learned resampling, beside shortcuts that only move numbers around.
 *
 * Shapes: B videos, C channels, T pictures of the piece, H W positions; t s factors over time and space.
 */
import { asLast, Conv2d, fromLast, Module, type ModuleOptions } from "#nn";
import { aten, cat, fusable, stack, type Tensor, zeros } from "#tensor";
import type { StreamCache } from "./stream-cache.ts";
import { CausalConv3d } from "./vae-layers.ts";

/** Applies a 2-D layer to every picture. */
function perPicture(x_BCTHW: Tensor, layer: (x_NCHW: Tensor) => Tensor): Tensor {
  const [batch = 0, , pictures = 0] = x_BCTHW.shape;
  const out = layer(x_BCTHW.transpose(1, 2).flatten(0, 1));
  return out.unflatten(0, [batch, pictures]).transpose(1, 2);
}

export class Downsample extends Module {
  readonly resample: { readonly "1": Conv2d };
  readonly time_conv?: CausalConv3d;

  constructor(channels: number, overTime: boolean, options: ModuleOptions) {
    super();
    this.resample = { "1": new Conv2d(channels, channels, { kernel: 3, stride: 2, ...options }) };
    if (overTime) {
      const stride = [2, 1, 1] as const;
      this.time_conv = new CausalConv3d(channels, channels, [3, 1, 1], [0, 0, 0], { stride, ...options });
    }
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const half = perPicture(x_BCTHW, (x) =>
      this.resample["1"].forward(aten.constant_pad_nd(x, [0, 1, 0, 1], 0)),
    );
    if (!this.time_conv) return half;
    const slot = cache.slot();
    const { before } = slot;
    const last = (x: Tensor): Tensor => x.narrow(2, x.shape[2]! - 1, 1);
    // A stream's first picture stands alone: nothing to halve yet.
    const result = before ? this.time_conv.after(cat([last(before), half], 2)) : half;
    slot.leave(before ? last(half) : half);
    return result;
  }
}

export class Upsample extends Module {
  readonly resample: { readonly "1": Conv2d };
  readonly time_conv?: CausalConv3d;

  constructor(channels: number, overTime: boolean, options: ModuleOptions) {
    super();
    this.resample = { "1": new Conv2d(channels, channels, { kernel: 3, padding: 1, ...options }) };
    if (overTime) this.time_conv = new CausalConv3d(channels, 2 * channels, [3, 1, 1], [1, 0, 0], options);
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const longer = this.time_conv ? this.#overTime(this.time_conv, x_BCTHW, cache) : x_BCTHW;
    return perPicture(longer, (x) => {
      const [height = 0, width = 0] = x.shape.slice(-2);
      return this.resample["1"].forward(aten._upsample_nearest_exact2d(x, [2 * height, 2 * width]));
    });
  }

  /** The first piece keeps its length; the second sees zeros before it, later ones their past. */
  #overTime(conv: CausalConv3d, x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const slot = cache.slot();
    if (cache.first) {
      slot.leave(zeros([0], { device: x_BCTHW.device }));
      return x_BCTHW;
    }
    const past = slot.before && slot.before.numel > 0 ? slot.before : undefined;
    const doubled = conv.after(x_BCTHW, past);
    const pictures = x_BCTHW.shape[2]!;
    const recent = x_BCTHW.narrow(2, Math.max(0, pictures - 2), Math.min(2, pictures));
    const older = past?.narrow(2, past.shape[2]! - 1, 1) ?? recent.narrow(2, 0, 1).mul(0);
    slot.leave(pictures >= 2 ? recent : cat([older, recent], 2));
    return interleave(doubled);
  }
}

/** [B, 2·C, T, H, W] to [B, C, 2·T, H, W]: the halves are even and odd pictures. The order in memory stays. */
function interleave(doubled: Tensor): Tensor {
  const last_BTHWC = asLast(doubled);
  if (fusable(last_BTHWC)) {
    const pairs = last_BTHWC.unflatten(4, [2, -1]).permute([0, 1, 4, 2, 3, 5]);
    return fromLast(pairs.contiguous().flatten(1, 2));
  }
  const [even, odd] = doubled.unflatten(1, [2, -1]).unbind(1);
  return stack([even!, odd!], 3).flatten(2, 3);
}

interface Factors {
  readonly time: number;
  readonly space: number;
}

/** Folds t·s·s neighbors into channels and averages groups of them down to the wanted number. */
export function averageDown(x_BCTHW: Tensor, channels: number, { time, space }: Factors): Tensor {
  const missing = (time - (x_BCTHW.shape[2]! % time)) % time;
  const x = aten.constant_pad_nd(x_BCTHW, [0, 0, 0, 0, missing, 0], 0);
  const [batch = 0, inputs = 0, pictures = 0, height = 0, width = 0] = x.shape;
  const small = [pictures / time, height / space, width / space];
  return x
    .reshape([batch, inputs, small[0]!, time, small[1]!, space, small[2]!, space])
    .permute([0, 1, 3, 5, 7, 2, 4, 6])
    .reshape([batch, channels, -1, ...small])
    .mean(2);
}

/**
 * Adds x, with its channels repeated and unfolded over t·s·s neighbors; a stream's first picture stays alone.
 *
 * Where the repeats fill whole axes, neighbors are the same numbers, and broadcasting them spares a large copy.
 */
export function addDuplicated(
  learnt_BCTHW: Tensor,
  x_BCTHW: Tensor,
  { time, space }: Factors,
  first: boolean,
): Tensor {
  const [channels = 0, pictures = 0] = learnt_BCTHW.shape.slice(1);
  const kept = x_BCTHW.shape[1]! / channels;
  const axes = leadingAxes(kept, [time, space, space]);
  if (!axes || (first && pictures !== 1)) {
    return learnt_BCTHW.add(duplicateUp(x_BCTHW, channels, { time, space }, first));
  }
  const spread = x_BCTHW.unflatten(1, [channels, ...axes]).permute([0, 1, 5, 2, 6, 3, 7, 4]);
  const [t, from] = first ? [1, axes[0] - 1] : [time, 0];
  const given = first ? spread.narrow(3, from, 1) : spread;
  const wide = learnt_BCTHW.unflatten(4, [-1, space]).unflatten(3, [-1, space]).unflatten(2, [-1, t]);
  return wide.add(given).flatten(6, 7).flatten(4, 5).flatten(2, 3);
}

/** The sizes that the leading of these axes keep when only `kept` channels are there for all of them; the rest repeat. */
function leadingAxes(
  kept: number,
  sizes: readonly [number, number, number],
): [number, number, number] | undefined {
  let left = kept;
  const axes = sizes.map((size) => {
    const taken = Math.min(left, size);
    left /= taken;
    return taken;
  });
  const whole = axes.every((taken, i) => taken === sizes[i] || taken === 1);
  return whole && left === 1 ? (axes as [number, number, number]) : undefined;
}

function duplicateUp(x_BCTHW: Tensor, channels: number, { time, space }: Factors, first: boolean): Tensor {
  const [batch = 0, inputs = 0, pictures = 0, height = 0, width = 0] = x_BCTHW.shape;
  const repeats = (channels * time * space * space) / inputs;
  const large = x_BCTHW
    .repeatInterleave(repeats, 1)
    .reshape([batch, channels, time, space, space, pictures, height, width])
    .permute([0, 1, 5, 2, 6, 3, 7, 4])
    .reshape([batch, channels, pictures * time, height * space, width * space]);
  return first ? large.slice(2, time - 1) : large;
}
