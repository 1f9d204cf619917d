/**
 * How EVAC's UNet lays pictures out for attention: the pixels of a frame in a row, or the frames of a pixel.
 *
 * Shapes: N = B·T frames, C channels, H W positions, L = H·W, B videos, T frames.
 */
import { asLast, Conv1d, fromLast, GroupNorm, Linear, Module, type ModuleOptions } from "#nn";
import { aten, type Tensor } from "#tensor";
import { type Conditions, TransformerLayer } from "./attention.ts";

const groups = 32;

export interface AttentionSizes {
  readonly channels: number;
  readonly headChannels: number;
}

/** Over the pixels of each frame, and to the conditions. */
export class FrameTransformer extends Module {
  readonly norm: GroupNorm;
  readonly proj_in: Linear;
  readonly transformer_blocks: readonly TransformerLayer[];
  readonly proj_out: Linear;

  constructor(sizes: AttentionSizes, conditions: { width: number; index: number }, options: ModuleOptions) {
    super();
    const { channels: width, headChannels } = sizes;
    this.norm = new GroupNorm(groups, width, { eps: 1e-6, ...options });
    this.proj_in = new Linear(width, width, options);
    this.transformer_blocks = [
      new TransformerLayer({ width, heads: width / headChannels, conditions }, options),
    ];
    this.proj_out = new Linear(width, width, options);
  }

  forward(x_NCHW: Tensor, conditions: Conditions): Tensor {
    let x_NLC = this.proj_in.forward(this.norm.forward(x_NCHW).flatten(2).transpose(1, 2).contiguous());
    for (const layer of this.transformer_blocks) x_NLC = layer.forward(x_NLC, conditions);
    const out = this.proj_out.forward(x_NLC).transpose(1, 2);
    return x_NCHW.add(out.unflatten(2, x_NCHW.shape.slice(2)));
  }
}

/** Over the frames of each pixel, without order or mask. The first of the network projects by a 1-wide convolution. */
export class TimeTransformer extends Module {
  readonly norm: GroupNorm;
  readonly proj_in: Linear | Conv1d;
  readonly transformer_blocks: readonly TransformerLayer[];
  readonly proj_out: Linear | Conv1d;

  constructor(sizes: AttentionSizes & { heads: number; convolve: boolean }, options: ModuleOptions) {
    super();
    const { channels, headChannels, heads, convolve } = sizes;
    const width = heads * headChannels;
    const project = (inputs: number, outputs: number): Linear | Conv1d =>
      convolve
        ? new Conv1d(inputs, outputs, { kernel: 1, ...options })
        : new Linear(inputs, outputs, options);
    this.norm = new GroupNorm(groups, channels, { eps: 1e-6, ...options });
    this.proj_in = project(channels, width);
    this.transformer_blocks = [new TransformerLayer({ width, heads }, options)];
    this.proj_out = project(width, channels);
  }

  forward(x_NCHW: Tensor, frames: number): Tensor {
    const [, , height = 0, width = 0] = x_NCHW.shape;
    const x_BTCHW = x_NCHW.unflatten(0, [-1, frames]);
    const batch = x_BTCHW.shape[0]!;
    const normed_BCTHW = this.norm.forward(x_BTCHW.transpose(1, 2));
    const direct_BTCHW = this.#inPlace(normed_BCTHW);
    if (direct_BTCHW) return x_NCHW.add(direct_BTCHW.flatten(0, 1));
    const rows = normed_BCTHW.permute([0, 3, 4, 2, 1]).reshape([batch * height * width, frames, -1]);
    let x_NTC = asLinear(this.proj_in, rows);
    for (const layer of this.transformer_blocks) x_NTC = layer.forward(x_NTC);
    const out = asLinear(this.proj_out, x_NTC).view([batch, height, width, frames, -1]);
    return x_NCHW.add(out.permute([0, 3, 4, 1, 2]).flatten(0, 1));
  }

  /** Without moving the frames of a pixel next to each other, where the kernel for that fits. */
  #inPlace(x_BCTHW: Tensor): Tensor | null {
    const x_BTHWC = asLast(x_BCTHW);
    if (!this.transformer_blocks[0]!.attn1.fitsAcrossFrames(x_BTHWC)) return null;
    let x_BTLC = asLinear(this.proj_in, x_BTHWC.flatten(2, 3));
    for (const layer of this.transformer_blocks) x_BTLC = layer.acrossFrames(x_BTLC);
    const out_BTLC = asLinear(this.proj_out, x_BTLC);
    return fromLast(out_BTLC.unflatten(2, x_BTHWC.shape.slice(2, 4))).transpose(1, 2);
  }
}

/** A 1-wide convolution over channels-last rows is a linear map with the same weights. */
function asLinear(layer: Linear | Conv1d, rows: Tensor): Tensor {
  if (layer instanceof Linear) return layer.forward(rows);
  return aten.linear(rows, layer.weight.squeeze(2), layer.bias ?? null);
}
