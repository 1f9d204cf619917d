/**
 * Stable Diffusion's image autoencoder (`AutoencoderKL`), 8 times smaller on each side, 4 latent channels.
 *
 * Rombach et al. 2022, https://arxiv.org/abs/2112.10752. OpenSora uses SDXL's weights in the diffusers
 * layout, EVAC those of Stable Diffusion inside its own checkpoint. Both encode videos frame by frame.
 * Latents carry the published scale: a latent here is what the denoiser sees.
 *
 * Shapes: N images, C channels, H W pixels, h w latent positions.
 */

import { recordedGroupNormFits } from "#kernels";
import { Conv2d, channelsLast, GroupNorm, Module, type ModuleOptions } from "#nn";
import { kernelFit, scope, type Tensor } from "#tensor";
import { DownBlock, MidBlock, UpBlock } from "./blocks.ts";

export interface AutoencoderKLSizes {
  readonly block_out_channels: readonly number[];
  readonly layers_per_block: number;
  readonly norm_num_groups: number;
  readonly latent_channels: number;
  readonly in_channels: number;
  readonly out_channels: number;
  readonly scaling_factor: number;
}

export const sdxlSizes: AutoencoderKLSizes = {
  block_out_channels: [128, 256, 512, 512],
  layers_per_block: 2,
  norm_num_groups: 32,
  latent_channels: 4,
  in_channels: 3,
  out_channels: 3,
  scaling_factor: 0.13025,
};

class Encoder extends Module {
  readonly conv_in: Conv2d;
  readonly down_blocks: readonly DownBlock[];
  readonly mid_block: MidBlock;
  readonly conv_norm_out: GroupNorm;
  readonly conv_out: Conv2d;

  constructor(sizes: AutoencoderKLSizes, options: ModuleOptions) {
    super();
    const { block_out_channels: widths, norm_num_groups: groups, layers_per_block: layers } = sizes;
    const deepest = widths.at(-1)!;
    this.conv_in = new Conv2d(sizes.in_channels, widths[0]!, { kernel: 3, padding: 1, ...options });
    this.down_blocks = widths.map((outputs, level) => {
      const inputs = widths[Math.max(level - 1, 0)]!;
      return new DownBlock({ inputs, outputs, layers, groups, resample: level < widths.length - 1 }, options);
    });
    this.mid_block = new MidBlock(deepest, groups, options);
    this.conv_norm_out = new GroupNorm(groups, deepest, { eps: 1e-6, ...options });
    this.conv_out = new Conv2d(deepest, 2 * sizes.latent_channels, { kernel: 3, padding: 1, ...options });
  }

  forward(images_NCHW: Tensor): Tensor {
    let x = this.conv_in.forward(images_NCHW);
    for (const block of this.down_blocks) x = scope(() => block.forward(x));
    x = this.mid_block.forward(x);
    return this.conv_out.forward(this.conv_norm_out.forwardSilu(x));
  }
}

class Decoder extends Module {
  readonly conv_in: Conv2d;
  readonly up_blocks: readonly UpBlock[];
  readonly mid_block: MidBlock;
  readonly conv_norm_out: GroupNorm;
  readonly conv_out: Conv2d;

  constructor(sizes: AutoencoderKLSizes, options: ModuleOptions) {
    super();
    const { norm_num_groups: groups, layers_per_block } = sizes;
    const widths = sizes.block_out_channels.toReversed();
    this.conv_in = new Conv2d(sizes.latent_channels, widths[0]!, { kernel: 3, padding: 1, ...options });
    this.up_blocks = widths.map((outputs, level) => {
      const inputs = widths[Math.max(level - 1, 0)]!;
      const resample = level < widths.length - 1;
      return new UpBlock({ inputs, outputs, layers: layers_per_block + 1, groups, resample }, options);
    });
    this.mid_block = new MidBlock(widths[0]!, groups, options);
    this.conv_norm_out = new GroupNorm(groups, widths.at(-1)!, { eps: 1e-6, ...options });
    this.conv_out = new Conv2d(widths.at(-1)!, sizes.out_channels, { kernel: 3, padding: 1, ...options });
  }

  forward(latents_NChw: Tensor): Tensor {
    let x = this.mid_block.forward(this.conv_in.forward(latents_NChw));
    for (const block of this.up_blocks) x = scope(() => block.forward(x));
    return this.conv_out.forward(this.conv_norm_out.forwardSilu(x));
  }
}

export interface Posterior {
  readonly mean: Tensor; // [N, 4, h, w]
  readonly logvar: Tensor;
}

export class AutoencoderKL extends Module {
  readonly encoder: Encoder;
  readonly decoder: Decoder;
  readonly quant_conv: Conv2d;
  readonly post_quant_conv: Conv2d;
  /** Pixels per latent position, on each side. */
  readonly downscale: number;
  readonly latentChannels: number;
  readonly #scale: number;
  readonly #learnsLast: boolean; // whether our norms have gradients in these sizes

  constructor(sizes: AutoencoderKLSizes, options: ModuleOptions = {}) {
    super();
    this.#learnsLast = sizes.block_out_channels.every((channels) =>
      recordedGroupNormFits(channels, sizes.norm_num_groups),
    );
    this.downscale = 2 ** (sizes.block_out_channels.length - 1);
    this.latentChannels = sizes.latent_channels;
    const latent = sizes.latent_channels;
    this.encoder = new Encoder(sizes, options);
    this.decoder = new Decoder(sizes, options);
    this.quant_conv = new Conv2d(2 * latent, 2 * latent, { kernel: 1, ...options });
    this.post_quant_conv = new Conv2d(latent, latent, { kernel: 1, ...options });
    this.#scale = sizes.scaling_factor;
  }

  /** The gaussian that an image is encoded to, before scaling. */
  posterior(images_NCHW: Tensor): Posterior {
    const moments = this.quant_conv.forward(this.encoder.forward(this.#laidOut(images_NCHW)));
    const [mean, logvar] = moments.chunk(2, 1);
    return { mean: mean!, logvar: logvar!.clamp(-30, 20) };
  }

  /** A scaled sample of the posterior, from the given standard normal noise; its mean without noise. */
  encode(images_NCHW: Tensor, noise_NChw?: Tensor): Tensor {
    const { mean, logvar } = this.posterior(images_NCHW);
    if (!noise_NChw) return mean.mul(this.#scale);
    return mean
      .add(
        logvar
          .mul(0.5)
          .exp()
          .mul(noise_NChw.to({ dtype: mean.dtype, device: mean.device })),
      )
      .mul(this.#scale);
  }

  /** Images in about [-1, 1], not clamped. */
  decode(latents_NChw: Tensor): Tensor {
    return this.decodeRaw(latents_NChw.div(this.#scale));
  }

  /** From latents before scaling, as the posterior has them. */
  decodeRaw(latents_NChw: Tensor): Tensor {
    return this.decoder.forward(this.post_quant_conv.forward(this.#laidOut(latents_NChw)));
  }

  /**
   * Channels last where our own norms run (bfloat16 on a GPU). Contiguous elsewhere, because torch's group norm loses digits on
   * channels-last pictures with flat areas (2e-4 in EVAC).
   */
  #laidOut(x_NCHW: Tensor): Tensor {
    const plain = x_NCHW.contiguous();
    const fit = kernelFit(plain, this.encoder.conv_norm_out.weight);
    return fit === "free" || (fit === "recorded" && this.#learnsLast) ? channelsLast(plain) : plain;
  }
}
