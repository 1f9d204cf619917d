/**
 * The residual, attention and resampling blocks of Stable Diffusion's image autoencoder.
 *
 * Field names are those of the diffusers checkpoints (`sdxl-vae`); EVAC's CompVis names are mapped onto them.
 * Rombach et al. 2022, https://arxiv.org/abs/2112.10752.
 *
 * Shapes: N images, C channels, H W height and width, L = H·W.
 */
import { attention, Conv2d, GroupNorm, Linear, Module, type ModuleOptions } from "#nn";
import { aten, type Tensor } from "#tensor";

const epsilon = 1e-6;

export class ResnetBlock extends Module {
  readonly norm1: GroupNorm;
  readonly conv1: Conv2d;
  readonly norm2: GroupNorm;
  readonly conv2: Conv2d;
  readonly conv_shortcut?: Conv2d;

  constructor(inputs: number, outputs: number, groups: number, options: ModuleOptions) {
    super();
    this.norm1 = new GroupNorm(groups, inputs, { eps: epsilon, ...options });
    this.conv1 = new Conv2d(inputs, outputs, { kernel: 3, padding: 1, ...options });
    this.norm2 = new GroupNorm(groups, outputs, { eps: epsilon, ...options });
    this.conv2 = new Conv2d(outputs, outputs, { kernel: 3, padding: 1, ...options });
    if (inputs !== outputs) this.conv_shortcut = new Conv2d(inputs, outputs, { kernel: 1, ...options });
  }

  forward(x_NCHW: Tensor): Tensor {
    const first = this.conv1.forward(this.norm1.forwardSilu(x_NCHW));
    const second = this.conv2.forward(this.norm2.forwardSilu(first));
    return (this.conv_shortcut?.forward(x_NCHW) ?? x_NCHW).add(second);
  }
}

/** One head over all positions of an image, as wide as the image has channels. */
export class ImageAttention extends Module {
  readonly group_norm: GroupNorm;
  readonly to_q: Linear;
  readonly to_k: Linear;
  readonly to_v: Linear;
  readonly to_out: { readonly "0": Linear };

  constructor(channels: number, groups: number, options: ModuleOptions) {
    super();
    this.group_norm = new GroupNorm(groups, channels, { eps: epsilon, ...options });
    this.to_q = new Linear(channels, channels, options);
    this.to_k = new Linear(channels, channels, options);
    this.to_v = new Linear(channels, channels, options);
    this.to_out = { "0": new Linear(channels, channels, options) };
  }

  forward(x_NCHW: Tensor): Tensor {
    const normed_NLC = this.group_norm.forward(x_NCHW).flatten(2).transpose(1, 2);
    const heads = [this.to_q, this.to_k, this.to_v].map((to) => to.forward(normed_NLC).unsqueeze(1));
    const mixed_NLC = attention(heads[0]!, heads[1]!, heads[2]!).squeeze(1);
    const out_NCL = this.to_out["0"].forward(mixed_NLC).transpose(1, 2);
    return x_NCHW.add(out_NCL.unflatten(2, x_NCHW.shape.slice(2)));
  }
}

/** Residual, attention, residual: the narrow waist of encoder and decoder. */
export class MidBlock extends Module {
  readonly attentions: readonly ImageAttention[];
  readonly resnets: readonly ResnetBlock[];

  constructor(channels: number, groups: number, options: ModuleOptions) {
    super();
    this.attentions = [new ImageAttention(channels, groups, options)];
    this.resnets = [0, 1].map(() => new ResnetBlock(channels, channels, groups, options));
  }

  forward(x_NCHW: Tensor): Tensor {
    const mixed = this.attentions[0]!.forward(this.resnets[0]!.forward(x_NCHW));
    return this.resnets[1]!.forward(mixed);
  }
}

/** A 3×3 convolution inside a `downsamplers` or `upsamplers` list, where the checkpoint calls it `conv`. */
class Resampler extends Module {
  readonly conv: Conv2d;

  constructor(
    channels: number,
    { stride, padding }: { stride: number; padding: number },
    options: ModuleOptions,
  ) {
    super();
    this.conv = new Conv2d(channels, channels, { kernel: 3, stride, padding, ...options });
  }
}

export class DownBlock extends Module {
  readonly resnets: readonly ResnetBlock[];
  readonly downsamplers?: readonly Resampler[];

  constructor(sizes: BlockSizes, options: ModuleOptions) {
    super();
    this.resnets = residualStack(sizes, options);
    if (sizes.resample)
      this.downsamplers = [new Resampler(sizes.outputs, { stride: 2, padding: 0 }, options)];
  }

  forward(x_NCHW: Tensor): Tensor {
    const x = this.resnets.reduce((value, block) => block.forward(value), x_NCHW);
    if (!this.downsamplers) return x;
    // Padded at the right and bottom only, as the original's asymmetric pooling.
    return this.downsamplers[0]!.conv.forward(aten.constant_pad_nd(x, [0, 1, 0, 1], 0));
  }
}

export class UpBlock extends Module {
  readonly resnets: readonly ResnetBlock[];
  readonly upsamplers?: readonly Resampler[];

  constructor(sizes: BlockSizes, options: ModuleOptions) {
    super();
    this.resnets = residualStack(sizes, options);
    if (sizes.resample) this.upsamplers = [new Resampler(sizes.outputs, { stride: 1, padding: 1 }, options)];
  }

  forward(x_NCHW: Tensor): Tensor {
    const x = this.resnets.reduce((value, block) => block.forward(value), x_NCHW);
    if (!this.upsamplers) return x;
    const [height = 0, width = 0] = x.shape.slice(-2);
    return this.upsamplers[0]!.conv.forward(aten.upsample_nearest2d(x, [2 * height, 2 * width]));
  }
}

export interface BlockSizes {
  readonly inputs: number;
  readonly outputs: number;
  readonly layers: number;
  readonly groups: number;
  /** Whether the block halves (or doubles) the image at its end. */
  readonly resample: boolean;
}

function residualStack(
  { inputs, outputs, layers, groups }: BlockSizes,
  options: ModuleOptions,
): ResnetBlock[] {
  return Array.from(
    { length: layers },
    (_, layer) => new ResnetBlock(layer === 0 ? inputs : outputs, outputs, groups, options),
  );
}
