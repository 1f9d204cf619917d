/**
 * The residual block of EVAC's UNet: a picture block told about time, then a causal convolution over the frames.
 *
 * Shapes: N = B·T frames, C channels, H W positions, M width of the time embedding.
 */

import { fusedFrameTaps } from "#kernels";
import { asLast, Conv2d, Conv3d, fromLast, GroupNorm, Linear, Module, type ModuleOptions, silu } from "#nn";
import { aten, cat, fusable, kernelFit, type Tensor } from "#tensor";

const groups = 32;

/** Group norm, SiLU, convolution under the indices of the checkpoint; dropout shifts the last by one. */
class TimeConvolution extends Module {
  readonly "0": GroupNorm;
  readonly "2"?: Conv3d;
  readonly "3"?: Conv3d;

  constructor(channels: number, dropout: boolean, options: ModuleOptions) {
    super();
    const conv = new Conv3d(channels, channels, { kernel: [3, 1, 1], ...options });
    this["0"] = new GroupNorm(groups, channels, options);
    if (dropout) this["3"] = conv;
    else this["2"] = conv;
  }

  /** Sees the two frames before; the first frame stands in for those that are missing. */
  forward(x_BCTHW: Tensor): Tensor {
    const conv = (this["2"] ?? this["3"])!;
    const direct = overFrames(this["0"], conv, x_BCTHW);
    if (direct) return direct;
    const active = this["0"].forwardSilu(x_BCTHW);
    if (kernelFit(asLast(active), conv.bias!) === "recorded") return asProduct(conv, active);
    const first = active.narrow(2, 0, 1);
    const padded_BCTL = cat([first, first, active], 2).flatten(3); // pixels in a row: a flat convolution, a third faster
    return aten.conv2d(padded_BCTL, conv.weight.squeeze(4), conv.bias!).unflatten(3, x_BCTHW.shape.slice(3));
  }
}

/** The same with channels last: the norm's kernel writes the missing frames too, and cuDNN has faster kernels for the rest. */
function overFrames(norm: GroupNorm, { weight, bias }: Conv3d, x_BCTHW: Tensor): Tensor | null {
  if (!fusable(asLast(weight), bias!)) return null;
  const led_BTHWC = norm.fusedSiluLeading(x_BCTHW);
  if (!led_BTHWC) return null;
  const out_BOTL = aten.conv2d(fromLast(led_BTHWC.flatten(2, 3)), weight.squeeze(4), bias!);
  return fromLast(asLast(out_BOTL).unflatten(2, x_BCTHW.shape.slice(3)));
}

/** While it learns: a frame and the two before it side by side, and one matrix product there, two back. */
export function asProduct({ weight, bias }: Conv3d, active_BCTHW: Tensor): Tensor {
  const x_BTHWC = asLast(active_BCTHW);
  const rows_OK = weight.flatten(2).transpose(1, 2).flatten(1); // tap by tap, its channels
  const x_BTPC = x_BTHWC.flatten(2, 3);
  const taps_BTPK = fusedFrameTaps(x_BTPC) ?? frameTaps(x_BTPC);
  return fromLast(aten.linear(taps_BTPK, rows_OK, bias!).unflatten(2, x_BTHWC.shape.slice(2, 4)));
}

function frameTaps(x_BTPC: Tensor): Tensor {
  const [, frames = 0] = x_BTPC.shape;
  const first = x_BTPC.narrow(1, 0, 1);
  const led = cat([first, first, x_BTPC], 1);
  return cat(
    [0, 1, 2].map((tap) => led.narrow(1, tap, frames)),
    3,
  );
}

class TimeConvolutions extends Module {
  readonly conv1: TimeConvolution;
  readonly conv2: TimeConvolution;
  readonly conv3: TimeConvolution;
  readonly conv4: TimeConvolution;

  constructor(channels: number, options: ModuleOptions) {
    super();
    this.conv1 = new TimeConvolution(channels, false, options);
    this.conv2 = new TimeConvolution(channels, true, options);
    this.conv3 = new TimeConvolution(channels, true, options);
    this.conv4 = new TimeConvolution(channels, true, options);
  }

  forward(x_BCTHW: Tensor): Tensor {
    const layers = [this.conv1, this.conv2, this.conv3, this.conv4];
    return x_BCTHW.add(layers.reduce((x, layer) => layer.forward(x), x_BCTHW));
  }
}

export class ResidualBlock extends Module {
  readonly in_layers: { readonly "0": GroupNorm; readonly "2": Conv2d };
  readonly emb_layers: { readonly "1": Linear };
  readonly out_layers: { readonly "0": GroupNorm; readonly "3": Conv2d };
  readonly skip_connection?: Conv2d;
  readonly temopral_conv: TimeConvolutions; // so spelled in the checkpoints

  constructor(inputs: number, outputs: number, embedding: number, options: ModuleOptions) {
    super();
    const conv = (from: number): Conv2d => new Conv2d(from, outputs, { kernel: 3, padding: 1, ...options });
    this.in_layers = { "0": new GroupNorm(groups, inputs, options), "2": conv(inputs) };
    this.emb_layers = { "1": new Linear(embedding, outputs, options) };
    this.out_layers = { "0": new GroupNorm(groups, outputs, options), "3": conv(outputs) };
    if (inputs !== outputs) this.skip_connection = new Conv2d(inputs, outputs, { kernel: 1, ...options });
    this.temopral_conv = new TimeConvolutions(outputs, options);
  }

  forward(x_NCHW: Tensor, time_NM: Tensor, frames: number): Tensor {
    const first = this.in_layers["2"].forward(this.in_layers["0"].forwardSilu(x_NCHW));
    const told = first.add(this.emb_layers["1"].forward(silu(time_NM)).unsqueeze(2).unsqueeze(3));
    const second = this.out_layers["3"].forward(this.out_layers["0"].forwardSilu(told));
    const picture = (this.skip_connection?.forward(x_NCHW) ?? x_NCHW).add(second);
    const video_BCTHW = picture.unflatten(0, [-1, frames]).transpose(1, 2);
    return this.temopral_conv.forward(video_BCTHW).transpose(1, 2).flatten(0, 1);
  }
}

export class Downsample extends Module {
  readonly op: Conv2d;

  constructor(channels: number, options: ModuleOptions) {
    super();
    this.op = new Conv2d(channels, channels, { kernel: 3, stride: 2, padding: 1, ...options });
  }

  forward(x_NCHW: Tensor): Tensor {
    return this.op.forward(x_NCHW);
  }
}

export class Upsample extends Module {
  readonly conv: Conv2d;

  constructor(channels: number, options: ModuleOptions) {
    super();
    this.conv = new Conv2d(channels, channels, { kernel: 3, padding: 1, ...options });
  }

  forward(x_NCHW: Tensor): Tensor {
    const [height = 0, width = 0] = x_NCHW.shape.slice(-2);
    return this.conv.forward(aten.upsample_nearest2d(x_NCHW, [2 * height, 2 * width]));
  }
}
