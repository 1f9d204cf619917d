/**
 * Layers of Wan's causal video autoencoder, made to run on one piece of a stream at a time.
 *
 * Wan team 2025, https://arxiv.org/abs/2503.20314, section 4.1. A convolution over time sees the past only: its
 * left padding is what the piece before left in the cache. The two resamplers over time treat the first pieces
 * specially, so a stream is not the same as one long pass; the pieces must be fed as the reference does.
 *
 * Shapes: B videos, C channels, T pictures of the piece, H W positions.
 */

import { fusedChannelNorm, fusedNormTaps, recordedChannelNorm } from "#kernels";
import {
  asLast,
  attention,
  Conv2d,
  Conv3d,
  fromLast,
  Module,
  type ModuleOptions,
  parameter,
  silu,
} from "#nn";
import { aten, cat, fusable, kernelFit, type Tensor } from "#tensor";
import { convolveSideBySide, overPictures, sideBySideOrder } from "./side-by-side.ts";
import type { StreamCache } from "./stream-cache.ts";

type Triple = readonly [number, number, number];

/** Looks back `2·padding` pictures; nothing is padded on the right. */
export class CausalConv3d extends Conv3d {
  readonly #padding: Triple;
  readonly #stride: number;

  constructor(inputs: number, outputs: number, kernel: Triple, padding: Triple, options: ConvOptions) {
    super(inputs, outputs, { kernel, ...options });
    this.#padding = padding;
    this.#stride = options.stride?.[0] ?? 1;
  }

  override layOut(): void {
    this.replaceWeight(sideBySideOrder);
  }

  /** `past`: pictures to stand on the left instead of zeros. */
  after(x_BCTHW: Tensor, past?: Tensor): Tensor {
    const [time, height, width] = this.#padding;
    const geometry = { look: 2 * time, border: height, stride: this.#stride };
    const direct = convolveSideBySide(x_BCTHW, past, this.weight, this.bias!, geometry);
    if (direct) return direct;
    const joined = past && time > 0 ? cat([past, x_BCTHW], 2) : x_BCTHW;
    const missing = 2 * time - (past && time > 0 ? past.shape[2]! : 0);
    return this.forward(aten.constant_pad_nd(joined, [width, width, height, height, missing, 0], 0));
  }

  /** One piece of a stream: takes its past from the cache and leaves its last two pictures there. */
  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const slot = cache.slot();
    const result = this.after(x_BCTHW, slot.before);
    slot.leave(lastTwo(x_BCTHW, slot.before));
    return result;
  }

  /** `stream` of the norm's SiLU. */
  streamNormed(norm: ChannelNorm, x_BCTHW: Tensor, cache: StreamCache): Tensor {
    return this.#streamTaps(norm, x_BCTHW, cache) ?? this.stream(norm.forwardSilu(x_BCTHW), cache);
  }

  /** By the kernel that norms frames to where the convolution reads them; a stream's first picture is alone and needs none. */
  #streamTaps(norm: ChannelNorm, x_BCTHW: Tensor, cache: StreamCache): Tensor | null {
    const past = cache.peek();
    const weight_OhwKC = this.weight.permute([0, 3, 4, 2, 1]);
    if (!past || !fusable(weight_OhwKC, this.bias!)) return null;
    const x_BTHWC = asLast(x_BCTHW);
    const shape = x_BTHWC.shape;
    const past_BQPC = asLast(past).contiguous().flatten(2, 3);
    const taps = fusable(x_BTHWC) && fusedNormTaps(x_BTHWC.flatten(2, 3), norm.gamma.flatten(), past_BQPC);
    if (!taps) return null;
    const frames = taps.unflatten(2, shape.slice(2, 4)); // [B, T, H, W, 3·C]
    const newest = frames
      .select(1, shape[1]! - 1)
      .unflatten(3, [3, -1])
      .narrow(3, 1, 2);
    cache.slot().leave(newest.permute([0, 4, 3, 1, 2]));
    return fromLast(overPictures(frames, weight_OhwKC, this.bias!, this.#padding[1]));
  }
}

interface ConvOptions extends ModuleOptions {
  readonly stride?: Triple;
}

/** The last two pictures so far; fewer only at a stream's very start. */
function lastTwo(x_BCTHW: Tensor, before: Tensor | undefined): Tensor {
  const pictures = x_BCTHW.shape[2]!;
  if (pictures >= 2) return x_BCTHW.narrow(2, pictures - 2, 2);
  return before ? cat([before.narrow(2, before.shape[2]! - 1, 1), x_BCTHW], 2) : x_BCTHW;
}

/** A cube of kernel 3 that keeps the size. */
export const cube = (inputs: number, outputs: number, options: ModuleOptions): CausalConv3d =>
  new CausalConv3d(inputs, outputs, [3, 3, 3], [1, 1, 1], options);

/** Root-mean-square norm over channels: x / |x| · √C · gamma. */
export class ChannelNorm extends Module {
  readonly gamma: Tensor;

  constructor(channels: number, trailing: number, options: ModuleOptions) {
    super();
    this.gamma = parameter([channels, ...Array<number>(trailing).fill(1)], options);
  }

  /** SiLU of the norm. */
  forwardSilu(x: Tensor): Tensor {
    return this.#fused(x, true) ?? silu(this.#plain(x));
  }

  forward(x: Tensor): Tensor {
    return this.#fused(x, false) ?? this.#plain(x);
  }

  #fused(x: Tensor, withSilu: boolean): Tensor | null {
    const [last, gamma] = [asLast(x), this.gamma.flatten()];
    const learns = kernelFit(gamma) === "recorded"; // then every convolution reads its channels last
    const out = learns
      ? recordedChannelNorm(last.contiguous(), gamma, withSilu)
      : fusedChannelNorm(last, gamma, withSilu);
    return out && fromLast(out);
  }

  #plain(x: Tensor): Tensor {
    const length = aten.linalg_vector_norm(x, 2, [1], true).clamp(1e-12);
    return x.div(length).mul(Math.sqrt(x.shape[1]!)).mul(this.gamma);
  }
}

/** Indices as in the checkpoint: 0 and 3 norms, 2 and 6 convolutions; activations and dropout have no weights. */
export class ResidualBlock extends Module {
  readonly residual: {
    readonly "0": ChannelNorm;
    readonly "2": CausalConv3d;
    readonly "3": ChannelNorm;
    readonly "6": CausalConv3d;
  };
  readonly shortcut?: CausalConv3d;

  constructor(inputs: number, outputs: number, options: ModuleOptions) {
    super();
    this.residual = {
      "0": new ChannelNorm(inputs, 3, options),
      "2": cube(inputs, outputs, options),
      "3": new ChannelNorm(outputs, 3, options),
      "6": cube(outputs, outputs, options),
    };
    if (inputs !== outputs) this.shortcut = new CausalConv3d(inputs, outputs, [1, 1, 1], [0, 0, 0], options);
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const { residual } = this;
    const around = this.shortcut?.after(x_BCTHW) ?? x_BCTHW;
    const first = residual["2"].streamNormed(residual["0"], x_BCTHW, cache);
    const second = residual["6"].streamNormed(residual["3"], first, cache);
    return second.add(around);
  }
}

/** One head over the positions of each picture by itself. */
export class PictureAttention extends Module {
  readonly norm: ChannelNorm;
  readonly to_qkv: Conv2d;
  readonly proj: Conv2d;

  constructor(channels: number, options: ModuleOptions) {
    super();
    this.norm = new ChannelNorm(channels, 2, options);
    this.to_qkv = new Conv2d(channels, 3 * channels, { kernel: 1, ...options });
    this.proj = new Conv2d(channels, channels, { kernel: 1, ...options });
  }

  stream(x_BCTHW: Tensor): Tensor {
    const [batch = 0, channels = 0, pictures = 0, height = 0, width = 0] = x_BCTHW.shape;
    const x_NCHW = x_BCTHW.transpose(1, 2).reshape([batch * pictures, channels, height, width]);
    const qkv_N1LC = this.to_qkv.forward(this.norm.forward(x_NCHW)).flatten(2).transpose(1, 2).unsqueeze(1);
    const [q, k, v] = qkv_N1LC.chunk(3, 3);
    const mixed = attention(q!.contiguous(), k!.contiguous(), v!.contiguous()).squeeze(1).transpose(1, 2);
    const out = this.proj.forward(mixed.reshape([batch * pictures, channels, height, width]));
    return out.view([batch, pictures, channels, height, width]).transpose(1, 2).add(x_BCTHW);
  }
}
